-- Which products of a type have one feature and not another one, and numeric properties within bounds?
-- name: query
select p.nr, p.label
from product p
join producttypeproduct t on t.product = p.nr
join productfeatureproduct f1 on f1.product = p.nr
where
  t.productType = ${type}
  and f1.productFeature = ${feature_1}
  and p.propertyNum1 > ${x}
  and p.propertyNum3 < ${y}
  and not exists (
    select 1
    from productfeatureproduct f2
    where f2.product = p.nr and f2.productFeature = ${feature_2}
  )
order by p.label
limit 10
