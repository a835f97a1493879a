-- why: SQLite has no date literals and no extract: dates are texts in ISO form, the year comes from strftime.
-- Which share of a region's market for one type of part did a nation's suppliers hold, in each of two years?
select
  o_year,
  sum(case when nation = '${nation}' then volume else 0 end) / sum(volume) as mkt_share
from (
  select
    cast(strftime('%Y', o_orderdate) as integer) as o_year,
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
    and o_orderdate between '1995-01-01' and '1996-12-31'
    and p_type = '${type}'
) as all_nations
group by o_year
order by o_year
