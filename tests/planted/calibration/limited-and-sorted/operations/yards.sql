-- Which yard has most?
select yard, count(*) as counted from scrap_metal where id < 20000 group by yard order by 2 desc, 1 limit 3
