-- How heavy are the wagons of each band?
select tariff_band(kilos) as band, count(*) as wagons, sum(kilos) as kilos from rail_wagons group by band order by band
