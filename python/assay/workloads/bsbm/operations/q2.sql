-- What is there to know of a product? A row for each of its features.
-- name: query
select
  p.label,
  p.comment,
  m.label as producer,
  f.label as productFeature,
  p.propertyTex1,
  p.propertyTex2,
  p.propertyTex3,
  p.propertyNum1,
  p.propertyNum2,
  p.propertyTex4,
  p.propertyTex5,
  p.propertyNum4
from product p
join producer m on m.nr = p.producer and m.nr = p.publisher
join productfeatureproduct pf on pf.product = p.nr
join productfeature f on f.nr = pf.productFeature
where p.nr = ${product}
