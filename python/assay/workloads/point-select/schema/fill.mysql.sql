-- why: MySQL has no generate_series: a query that asks itself counts, as far as its session lets it.
-- The same rows everywhere: 7919 is a prime, so that k visits its range out of order, and texts come from a hash.

set session cte_max_recursion_depth = 4294967295;

insert into entries (id, k, c, pad)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${entries})
select
  id,
  id * 7919 % ${entries} + 1,
  substr(repeat(md5(id), 4), 1, 120),
  substr(repeat(md5(-cast(id as signed)), 2), 1, 60)
from made;
