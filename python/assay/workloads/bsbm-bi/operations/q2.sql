-- Which products have most features in common with a product?
-- name: query
select other.product as otherProduct, count(*) as sameFeatures
from productfeatureproduct its
join productfeatureproduct other on other.productFeature = its.productFeature
where its.product = ${product} and other.product <> its.product
group by other.product
order by sameFeatures desc, otherProduct
limit 10
