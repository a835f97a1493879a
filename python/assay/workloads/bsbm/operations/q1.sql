-- Which products of a type have two features, and more than so much of the first numeric property?
-- name: query
select distinct p.nr, p.label
from product p
join producttypeproduct t on t.product = p.nr
join productfeatureproduct f1 on f1.product = p.nr
join productfeatureproduct f2 on f2.product = p.nr
where
  t.productType = ${type}
  and f1.productFeature = ${feature_1}
  and f2.productFeature = ${feature_2}
  and p.propertyNum1 > ${x}
order by p.label
limit 10
