-- why: Virtuoso has neither date literals nor intervals; a text is cast to a date, and a function adds to it.
-- Do two ship modes make urgent orders late: how many late lines of a year were urgent and how many were not?
select
  l_shipmode,
  sum(case when o_orderpriority in ('1-URGENT', '2-HIGH') then 1 else 0 end) as high_line_count,
  sum(case when o_orderpriority not in ('1-URGENT', '2-HIGH') then 1 else 0 end) as low_line_count
from orders, lineitem
where o_orderkey = l_orderkey
  and l_shipmode in ('${modes[0]}', '${modes[1]}')
  and l_commitdate < l_receiptdate
  and l_shipdate < l_commitdate
  and l_receiptdate >= cast('${date}' as date)
  and l_receiptdate < dateadd('year', 1, cast('${date}' as date))
group by l_shipmode
order by l_shipmode
