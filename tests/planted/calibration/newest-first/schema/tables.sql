create table articles as
select id, id % ${authors} + 1 as author, (id * 7919) % 1000003 as printed, 'title ' || id as title, repeat('a', 60) as lead
from generate_series(1, ${articles}) as made (id);
create index articles_author on articles (author);
