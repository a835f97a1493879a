-- why: SQLite has no date literals and no extract: dates are texts in ISO form, the year comes from strftime.
-- What profit did a line of parts bring, by nation of the supplier and year of the order?
select
  nation,
  o_year,
  sum(amount) as sum_profit
from (
  select
    n_name as nation,
    cast(strftime('%Y', o_orderdate) as integer) as o_year,
    l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity as amount
  from part, supplier, lineitem, partsupp, orders, nation
  where s_suppkey = l_suppkey
    and ps_suppkey = l_suppkey
    and ps_partkey = l_partkey
    and p_partkey = l_partkey
    and o_orderkey = l_orderkey
    and s_nationkey = n_nationkey
    and p_name like '%${color}%'
) as profit
group by nation, o_year
order by nation, o_year desc
