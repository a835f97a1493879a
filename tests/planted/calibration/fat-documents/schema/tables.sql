create table documents as
select id, id % 700 as pages,
  jsonb_build_object('pages', id % 700, 'words', (select jsonb_agg(md5((id * n)::text)) from generate_series(1, 400) as w (n))) as body
from generate_series(1, ${documents}) as made (id);
