-- Which products share a feature with a product, and have numeric properties near to its own?
-- name: query
select distinct p.nr, p.label as productLabel
from product its
join productfeatureproduct f on f.product = its.nr
join productfeatureproduct pf on pf.productFeature = f.productFeature
join product p on p.nr = pf.product
where
  its.nr = ${product}
  and p.nr <> its.nr
  and p.propertyNum1 < its.propertyNum1 + 120
  and p.propertyNum1 > its.propertyNum1 - 120
  and p.propertyNum2 < its.propertyNum2 + 170
  and p.propertyNum2 > its.propertyNum2 - 170
order by productLabel
limit 5
