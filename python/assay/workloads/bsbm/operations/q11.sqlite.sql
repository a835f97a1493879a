-- why: SQLite has no timestamps: moments are texts in ISO form, told as the days that they begin.
-- What is there to know of an offer?
-- name: query
select
  product,
  producer,
  vendor,
  price,
  date(validFrom) as validFrom,
  date(validTo) as validTo,
  deliveryDays,
  offerWebpage,
  publisher,
  publishDate
from offer
where nr = ${offer}
