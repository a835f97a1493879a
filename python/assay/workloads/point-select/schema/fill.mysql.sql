<<<<<<< HEAD
-- why: MySQL has no generate_series: a query that asks itself counts, as far as its session lets it.
-- The same rows everywhere: 7919 is a prime, so that k visits its range out of order, and texts come from a hash.

set session cte_max_recursion_depth = 4294967295;

insert into entries (id, k, c, pad)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${entries})
=======
-- why: MySQL and Dolt have no series of numbers by themselves, and recursions of few steps: each makes three digits.
-- The same rows everywhere: 7919 is a prime, so that k visits its range out of order, and texts come from a hash.

insert into entries (id, k, c, pad)
with recursive
  ones (n) as (select 0 union all select n + 1 from ones where n < 999),
  thousands (n) as (select 0 union all select n + 1 from thousands where n < least(999, floor(${entries} / 1000))),
  millions (n) as (select 0 union all select n + 1 from millions where n < floor(${entries} / 1000000)),
  made (id) as (
    select cast(millions.n * 1000000 + thousands.n * 1000 + ones.n + 1 as signed) from millions, thousands, ones
  )
>>>>>>> main
select
  id,
  id * 7919 % ${entries} + 1,
  substr(repeat(md5(id), 4), 1, 120),
<<<<<<< HEAD
  substr(repeat(md5(-cast(id as signed)), 2), 1, 60)
from made;
=======
  substr(repeat(md5(-id), 2), 1, 60)
from made
where id <= ${entries};
>>>>>>> main
