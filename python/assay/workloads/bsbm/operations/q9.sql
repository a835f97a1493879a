-- What is there to know of the person who wrote a review?
-- name: query
select p.nr, p.name, p.mbox_sha1sum, p.country, p.publisher, p.publishDate
from review r
join person p on p.nr = r.person
where r.nr = ${review}
