-- Twenty recipes after the last of the page before.
select id, title, published from recipes where published < 1000003 - ${skipped} * 16 order by published desc limit 20
