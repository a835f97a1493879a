-- Which one is first?
select id, belt from queue order by id limit 1
