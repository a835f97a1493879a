-- Which product of a type do people of each country review most, and what does it cost on average?
-- name: query
with reviewed as (
  select person.country, t.product, count(*) as reviews
  from producttypeproduct t
  join review r on r.product = t.product
  join person on person.nr = r.person
  where t.productType = ${drilled_type_below_root}
  group by person.country, t.product
),
most as (
  select country, max(reviews) as reviews from reviewed group by country
),
priced as (
  select o.product, avg(o.price) as price
  from producttypeproduct t
  join offer o on o.product = t.product
  where t.productType = ${drilled_type_below_root}
  group by o.product
)
select
  reviewed.country,
  reviewed.product,
  reviewed.reviews as nrOfReviews,
  cast(priced.price as double precision) as avgPrice
from reviewed
join most on most.country = reviewed.country and most.reviews = reviewed.reviews
join priced on priced.product = reviewed.product
order by nrOfReviews desc, reviewed.country, reviewed.product
