-- Twenty recipes of a page far back.
select id, title, published from recipes order by published desc limit 20 offset ${skipped}
