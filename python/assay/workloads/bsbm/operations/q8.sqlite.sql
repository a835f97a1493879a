-- why: SQLite has no timestamps: moments are texts in ISO form, told as the days that they begin.
-- What do the latest reviews of a product in English say?
-- name: query
select r.title, r.text, date(r.reviewDate) as reviewDate, p.nr, p.name, r.rating1, r.rating2, r.rating3, r.rating4
from review r
join person p on p.nr = r.person
where r.product = ${product} and r.language = 'en'
order by r.reviewDate desc
limit 20
