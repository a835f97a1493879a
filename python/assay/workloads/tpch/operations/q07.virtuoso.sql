-- why: Virtuoso has no date literals; a text is cast to a date.
-- What is the yearly value of goods shipped between two nations, in each direction?
select
  supp_nation,
  cust_nation,
  l_year,
  sum(volume) as revenue
from (
  select
    supplier_nation.n_name as supp_nation,
    customer_nation.n_name as cust_nation,
    extract(year from l_shipdate) as l_year,
    l_extendedprice * (1 - l_discount) as volume
  from
    supplier,
    lineitem,
    orders,
    customer,
    nation as supplier_nation,
    nation as customer_nation
  where s_suppkey = l_suppkey
    and o_orderkey = l_orderkey
    and c_custkey = o_custkey
    and s_nationkey = supplier_nation.n_nationkey
    and c_nationkey = customer_nation.n_nationkey
    and (
      (supplier_nation.n_name = '${nations[0]}' and customer_nation.n_name = '${nations[1]}')
      or (supplier_nation.n_name = '${nations[1]}' and customer_nation.n_name = '${nations[0]}')
    )
    and l_shipdate between cast('1995-01-01' as date) and cast('1996-12-31' as date)
) as shipping
group by supp_nation, cust_nation, l_year
order by supp_nation, cust_nation, l_year
