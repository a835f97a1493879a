-- How old are they?
select born, count(*) as counted from inhabitants where id < 60000 group by born order by 2 desc, 1 limit 3
