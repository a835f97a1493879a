-- why: Virtuoso has neither date literals nor intervals; a text is cast to a date, and a function adds to it.
-- Which suppliers of a nation stock far more of some parts of one colour than they shipped in a year?
select
  s_name,
  s_address
from supplier, nation
where s_suppkey in (
    select ps_suppkey
    from partsupp
    where ps_partkey in (
        select p_partkey
        from part
        where p_name like '${color}%'
      )
      and ps_availqty > (
        select 0.5 * sum(l_quantity)
        from lineitem
        where l_partkey = ps_partkey
          and l_suppkey = ps_suppkey
          and l_shipdate >= cast('${date}' as date)
          and l_shipdate < dateadd('year', 1, cast('${date}' as date))
      )
  )
  and s_nationkey = n_nationkey
  and n_name = '${nation}'
order by s_name
