create table love_letters as
select id, case when id % 3 = 0 then 'Dear ' else 'Hello ' end || (select string_agg(md5((id + n)::text), ' ') from generate_series(1, 300) as w (n)) as text_of, id % 3 = 0 as dear
from generate_series(1, ${love_letters}) as made (id);
