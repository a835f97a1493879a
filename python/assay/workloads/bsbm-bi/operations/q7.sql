-- Which of the thousand products of a type with most offers does nobody of a country offer?
-- name: query
select product
from (
  select t.product, count(*) as offers
  from producttypeproduct t
  join offer o on o.product = t.product
  where t.productType = ${drilled_type}
  group by t.product
  order by offers desc
  limit 1000
) offered
where not exists (
  select 1
  from offer o
  join vendor v on v.nr = o.vendor
  where o.product = offered.product and v.country = ${country}
)
