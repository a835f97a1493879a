-- why: Virtuoso has neither date literals nor intervals; a text is cast to a date, and a function adds to it.
-- What revenue in one year came from sales where customer and supplier share a nation, for each nation of a region?
select
  n_name,
  sum(l_extendedprice * (1 - l_discount)) as revenue
from customer, orders, lineitem, supplier, nation, region
where c_custkey = o_custkey
  and l_orderkey = o_orderkey
  and l_suppkey = s_suppkey
  and c_nationkey = s_nationkey
  and s_nationkey = n_nationkey
  and n_regionkey = r_regionkey
  and r_name = '${region}'
  and o_orderdate >= cast('${date}' as date)
  and o_orderdate < dateadd('year', 1, cast('${date}' as date))
group by n_name
order by revenue desc
