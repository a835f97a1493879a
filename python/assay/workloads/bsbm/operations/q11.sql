-- What is there to know of an offer?
-- name: query
select
  product, producer, vendor, price, validFrom, validTo, deliveryDays, offerWebpage, publisher, publishDate
from offer
where nr = ${offer}
