-- why: MySQL and Dolt have no series of numbers by themselves, and recursions of few steps: each makes three digits.
-- MySQL 9.7 has no md5 either: the same numbers as everywhere, and texts of the same length that are of another hash.

insert into entries (id, k, c, pad)
with recursive
  ones (n) as (select 0 union all select n + 1 from ones where n < 999),
  thousands (n) as (select 0 union all select n + 1 from thousands where n < least(999, floor(${entries} / 1000))),
  millions (n) as (select 0 union all select n + 1 from millions where n < floor(${entries} / 1000000)),
  made (id) as (
    select cast(millions.n * 1000000 + thousands.n * 1000 + ones.n + 1 as signed) from millions, thousands, ones
  )
select
  id,
  id * 7919 % ${entries} + 1,
  substr(repeat(sha2(id, 256), 2), 1, 120),
  substr(sha2(-id, 256), 1, 60)
from made
where id <= ${entries};
