-- Texts are of digits in sysbench's form, made from a hash, so that they are the same everywhere; 7919 is a prime, so that k
-- visits its range out of order.
with hashed as (
  select
    id,
    translate(md5(id || 'a') || md5(id || 'b') || md5(id || 'c') || md5(id || 'd'), 'abcdef', '012345') as for_c,
    translate(md5(id || 'e') || md5(id || 'f'), 'abcdef', '012345') as for_pad
  from range(1, ${entries} + 1) as made (id)
)
select
  cast(id as integer) as id,
  cast(id * 7919 % ${entries} + 1 as integer) as k,
  left(regexp_replace(left(for_c, 110), '(.{11})', '\1-', 'g'), 119) as c,
  left(regexp_replace(left(for_pad, 55), '(.{11})', '\1-', 'g'), 59) as pad
from hashed
