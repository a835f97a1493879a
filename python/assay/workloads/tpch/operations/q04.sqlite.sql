-- why: SQLite has neither date literals nor intervals: dates are texts in ISO form, which compare as dates.
-- How many orders of a quarter had a line that arrived after its promised day, by priority?
select
  o_orderpriority,
  count(*) as order_count
from orders
where o_orderdate >= '${date}'
  and o_orderdate < date('${date}', '+3 months')
  and exists (
    select *
    from lineitem
    where l_orderkey = o_orderkey
      and l_commitdate < l_receiptdate
  )
group by o_orderpriority
order by o_orderpriority
