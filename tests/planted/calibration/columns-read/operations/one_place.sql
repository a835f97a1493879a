-- What did one sensor see last in each place?
select latest.place, max(latest.sensor_07)
from (select arg_max(measurements, sensor_01) as latest from measurements group by id // 4) as rows
group by latest.place
