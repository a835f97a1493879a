-- The drawings of one site, for a list of titles.
select id, title, revision from site_drawings where site = ${site} order by id
