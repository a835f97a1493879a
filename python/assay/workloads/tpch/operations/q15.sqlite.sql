-- why: SQLite has neither date literals nor intervals: dates are texts in ISO form, which compare as dates.
-- Which supplier, or suppliers if they tie, brought the most revenue in a quarter?
with revenue as (
  select
    l_suppkey as supplier_no,
    sum(l_extendedprice * (1 - l_discount)) as total_revenue
  from lineitem
  where l_shipdate >= '${date}'
    and l_shipdate < date('${date}', '+3 months')
  group by l_suppkey
)
select
  s_suppkey,
  s_name,
  s_address,
  s_phone,
  total_revenue
from supplier, revenue
where s_suppkey = supplier_no
  and total_revenue = (select max(total_revenue) from revenue)
order by s_suppkey
