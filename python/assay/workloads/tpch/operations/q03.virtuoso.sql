-- why: Virtuoso has neither date literals nor limit; a text is cast to a date, and top says how many rows.
-- Which open orders of a market segment were worth most when they had not yet been shipped on a given day?
select top 10
  l_orderkey,
  sum(l_extendedprice * (1 - l_discount)) as revenue,
  o_orderdate,
  o_shippriority
from customer, orders, lineitem
where c_mktsegment = '${segment}'
  and c_custkey = o_custkey
  and l_orderkey = o_orderkey
  and o_orderdate < cast('${date}' as date)
  and l_shipdate > cast('${date}' as date)
group by l_orderkey, o_orderdate, o_shippriority
order by revenue desc, o_orderdate
