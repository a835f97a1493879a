-- The drawings of one site, for a list of titles.
select * from site_drawings where site = ${site} order by id
