-- Extremes of the last readings.
select house % 10 as block, avg(tenths) as tenths, max(humidity) as humid, min(light) as dark, sum(case when tenths > 300 then 1 else 0 end) as hot,
 sum(case when humidity < 200 and light > 2000 then tenths else 0 end) as dry
from climate_logs where id > 180000 group by 1 order by 1
