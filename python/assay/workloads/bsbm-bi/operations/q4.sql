-- Which features of products of a type make their offers dearer than those of products without?
-- name: query
with priced as (
  select o.product, sum(o.price) as price, count(*) as offers
  from producttypeproduct t
  join offer o on o.product = t.product
  where t.productType = ${drilled_type_below_root}
  group by o.product
),
whole as (
  select sum(price) as price, sum(offers) as offers from priced
),
having_it as (
  select f.productFeature as feature, sum(priced.price) as price, sum(priced.offers) as offers
  from priced
  join productfeatureproduct f on f.product = priced.product
  group by f.productFeature
)
select
  feature,
  (cast(having_it.price as double precision) / having_it.offers)
  / (cast(whole.price - having_it.price as double precision) / (whole.offers - having_it.offers)) as priceRatio
from having_it, whole
where whole.offers > having_it.offers
order by priceRatio desc, feature
limit 10
