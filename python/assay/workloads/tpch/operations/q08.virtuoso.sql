-- why: Virtuoso has no date literals; a text is cast to a date.
-- Which share of a region's market for one type of part did a nation's suppliers hold, in each of two years?
select
  o_year,
  sum(case when nation = '${nation}' then volume else 0 end) / sum(volume) as mkt_share
from (
  select
    extract(year from o_orderdate) as o_year,
    l_extendedprice * (1 - l_discount) as volume,
    supplier_nation.n_name as nation
  from
    part,
    supplier,
    lineitem,
    orders,
    customer,
    nation as customer_nation,
    nation as supplier_nation,
    region
  where p_partkey = l_partkey
    and s_suppkey = l_suppkey
    and l_orderkey = o_orderkey
    and o_custkey = c_custkey
    and c_nationkey = customer_nation.n_nationkey
    and customer_nation.n_regionkey = r_regionkey
    and r_name = '${region}'
    and s_nationkey = supplier_nation.n_nationkey
    and o_orderdate between cast('1995-01-01' as date) and cast('1996-12-31' as date)
    and p_type = '${type}'
) as all_nations
group by o_year
order by o_year
