-- Which lodge is fullest?
select lodge, sum(beds) as beds from lodge_stays where id < 40000 group by lodge order by 2 desc, 1 limit 3
