-- The same, of the columns that it is about.
select place, max(sensor_07)
from (
  select arg_max(place, sensor_01) as place, arg_max(sensor_07, sensor_01) as sensor_07
  from measurements group by id // 4
) as rows
group by place
