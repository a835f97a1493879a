-- why: Virtuoso has neither date literals nor intervals; a text is cast to a date, and a function adds to it.
-- How many orders of a quarter had a line that arrived after its promised day, by priority?
select
  o_orderpriority,
  count(*) as order_count
from orders
where o_orderdate >= cast('${date}' as date)
  and o_orderdate < dateadd('month', 3, cast('${date}' as date))
  and exists (
    select *
    from lineitem
    where l_orderkey = o_orderkey
      and l_commitdate < l_receiptdate
  )
group by o_orderpriority
order by o_orderpriority
