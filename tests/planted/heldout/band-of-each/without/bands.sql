-- How heavy are the wagons of each band?
select case when kilos < 20000 then 1 when kilos < 50000 then 2 else 3 end as band, count(*) as wagons, sum(kilos) as kilos from rail_wagons group by band order by band
