-- Which offers of a product from the United States are valid and delivered within three days? The cheapest ones.
-- name: query
select distinct o.nr, o.price
from offer o
join vendor v on v.nr = o.vendor and v.nr = o.publisher
where
  o.product = ${product}
  and v.country = 'US'
  and o.deliveryDays <= 3
  and o.validTo > timestamp '${today} 00:00:00'
order by o.price
limit 10
