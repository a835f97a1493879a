-- How do plates begin?
select substr(plate, 1, 8) as beginning, count(*) from vehicles where vin < 16000 group by 1 order by 2 desc, 1 limit 3
