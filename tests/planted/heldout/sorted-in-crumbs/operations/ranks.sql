-- Which ping was how manieth?
select max(place) as last, count(distinct stop_name) as stops from (select row_number() over (order by sent, ping) as place, stop_name from tram_pings) as ranked
