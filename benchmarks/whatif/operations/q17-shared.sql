-- Query 17 with the lines of its parts read once: their mean quantity is a window over the same rows.
select sum(l_extendedprice) / 7.0 as avg_yearly
from (
  select
    l_extendedprice,
    l_quantity,
    avg(l_quantity) over (partition by l_partkey) as mean_quantity
  from lineitem, part
  where p_partkey = l_partkey
    and p_brand = '${brand}'
    and p_container = '${container}'
) as lines
where l_quantity < 0.2 * mean_quantity
