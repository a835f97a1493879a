-- Which grape bore most?
select grape, sum(kilos) as kilos from vineyard_harvests where id <= 5000 group by grape order by kilos desc, grape limit 3
