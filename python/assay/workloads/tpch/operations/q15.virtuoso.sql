-- why: Virtuoso has no with, so revenue is summed twice; as binary floating point both sums are equal to four places only.
-- Which supplier, or suppliers if they tie, brought the most revenue in a quarter?
select
  s_suppkey,
  s_name,
  s_address,
  s_phone,
  total_revenue
from supplier, (
  select
    l_suppkey as supplier_no,
    sum(l_extendedprice * (1 - l_discount)) as total_revenue
  from lineitem
  where l_shipdate >= cast('${date}' as date)
    and l_shipdate < dateadd('month', 3, cast('${date}' as date))
  group by l_suppkey
) as revenue
where s_suppkey = supplier_no
  and cast(total_revenue as decimal(19, 4)) = (
    select cast(max(total_revenue) as decimal(19, 4))
    from (
      select
        l_suppkey as supplier_no,
        sum(l_extendedprice * (1 - l_discount)) as total_revenue
      from lineitem
      where l_shipdate >= cast('${date}' as date)
        and l_shipdate < dateadd('month', 3, cast('${date}' as date))
      group by l_suppkey
    ) as revenues
  )
order by s_suppkey
