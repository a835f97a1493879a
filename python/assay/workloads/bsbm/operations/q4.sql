-- Which products of a type match one of two sets of features and bounds? The second page of them.
-- name: query
select p.nr, p.label, p.propertyTex1
from product p
join producttypeproduct t on t.product = p.nr
join productfeatureproduct f1 on f1.product = p.nr
join productfeatureproduct f2 on f2.product = p.nr
where
  t.productType = ${type}
  and f1.productFeature = ${feature_1}
  and f2.productFeature = ${feature_2}
  and p.propertyNum1 > ${x}
union
select p.nr, p.label, p.propertyTex1
from product p
join producttypeproduct t on t.product = p.nr
join productfeatureproduct f1 on f1.product = p.nr
join productfeatureproduct f3 on f3.product = p.nr
where
  t.productType = ${type}
  and f1.productFeature = ${feature_1}
  and f3.productFeature = ${feature_3}
  and p.propertyNum2 > ${y}
order by label
limit 10 offset 5
