-- Which vendors sell products of a type most often below their average price?
-- name: query
with offered as (
  select o.vendor, o.price, avg(o.price) over (partition by o.product) as average
  from producttypeproduct t
  join offer o on o.product = t.product
  where t.productType = ${drilled_type}
)
select
  vendor,
  cast(sum(case when price < average then 1 else 0 end) as double precision) / count(*) as cheapExpensiveRatio
from offered
group by vendor
having sum(case when price < average then 1 else 0 end) > 0
order by cheapExpensiveRatio desc, vendor
limit 10
