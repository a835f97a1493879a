-- why: SQLite has no timestamps: moments are texts in ISO form, which compare as moments.
-- Which offers from Germany that are still valid, and which reviews, are there of a product? Each offer with each review.
-- name: query
select
  p.label,
  o.nr as offer,
  o.price,
  o.vendor,
  o.vendor_label,
  r.nr as review,
  r.title,
  r.person,
  r.name,
  r.rating1,
  r.rating2
from product p
left join (
  select offer.nr, offer.product, offer.price, offer.vendor, vendor.label as vendor_label
  from offer
  join vendor on vendor.nr = offer.vendor and vendor.nr = offer.publisher
  where vendor.country = 'DE' and offer.validTo > '${today} 00:00:00'
) o on o.product = p.nr
left join (
  select
    review.nr, review.product, review.title, review.person, person.name, review.rating1, review.rating2
  from review
  join person on person.nr = review.person
) r on r.product = p.nr
where p.nr = ${product}
