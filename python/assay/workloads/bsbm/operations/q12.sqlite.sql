-- why: SQLite has no timestamps: moments are texts in ISO form, told as the days that they begin.
-- An offer as another application takes it.
-- name: query
select
  o.nr as offer,
  p.nr as product,
  p.label as productlabel,
  v.label as vendor,
  v.homepage as vendorhomepage,
  o.offerWebpage as offerURL,
  o.price,
  o.deliveryDays,
  date(o.validTo) as validuntil
from offer o
join product p on p.nr = o.product
join vendor v on v.nr = o.vendor
where o.nr = ${offer}
