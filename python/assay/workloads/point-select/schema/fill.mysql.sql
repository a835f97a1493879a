-- why: MySQL and Dolt have no series of numbers by themselves, and recursions of few steps: each makes three digits;
-- and MySQL of today has no md5.
-- The same rows everywhere: 7919 is a prime, so that k visits its range out of order, and texts come from a hash.

insert into entries (id, k, c, pad)
with recursive
  ones (n) as (select 0 union all select n + 1 from ones where n < 999),
  thousands (n) as (select 0 union all select n + 1 from thousands where n < least(999, ${entries} div 1000)),
  millions (n) as (select 0 union all select n + 1 from millions where n < ${entries} div 1000000),
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
