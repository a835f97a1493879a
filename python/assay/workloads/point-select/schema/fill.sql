-- The same rows everywhere: 7919 is a prime, so that k visits its range out of order, and texts come from a hash.

insert into entries (id, k, c, pad)
select
  id,
  cast(cast(id as bigint) * 7919 % ${entries} + 1 as integer),
  substr(repeat(md5(cast(id as varchar)), 4), 1, 120),
  substr(repeat(md5(cast(-id as varchar)), 2), 1, 60)
from generate_series(1, ${entries}) as made (id);
