-- why: Virtuoso has neither date literals nor intervals nor limit; a function adds to a date, and top says how many rows.
-- Which customers cost a quarter's sales the most revenue by returning what they had ordered?
select top 20
  c_custkey,
  c_name,
  sum(l_extendedprice * (1 - l_discount)) as revenue,
  c_acctbal,
  n_name,
  c_address,
  c_phone,
  c_comment
from customer, orders, lineitem, nation
where c_custkey = o_custkey
  and l_orderkey = o_orderkey
  and o_orderdate >= cast('${date}' as date)
  and o_orderdate < dateadd('month', 3, cast('${date}' as date))
  and l_returnflag = 'R'
  and c_nationkey = n_nationkey
group by c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
order by revenue desc
