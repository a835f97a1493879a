-- why: Virtuoso has no limit; top says how many rows.
-- Which suppliers of a nation most often were the only late one in a finished order of several suppliers?
select top 100
  s_name,
  count(*) as numwait
from supplier, lineitem as late, orders, nation
where s_suppkey = late.l_suppkey
  and o_orderkey = late.l_orderkey
  and o_orderstatus = 'F'
  and late.l_receiptdate > late.l_commitdate
  and exists (
    select *
    from lineitem as other
    where other.l_orderkey = late.l_orderkey
      and other.l_suppkey <> late.l_suppkey
  )
  and not exists (
    select *
    from lineitem as other_late
    where other_late.l_orderkey = late.l_orderkey
      and other_late.l_suppkey <> late.l_suppkey
      and other_late.l_receiptdate > other_late.l_commitdate
  )
  and s_nationkey = n_nationkey
  and n_name = '${nation}'
group by s_name
order by numwait desc, s_name
