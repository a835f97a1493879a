create table bridge_tolls as
select id, strftime(timestamp '2024-01-01 00:00:00' + to_seconds(id * 29), '%Y/%m/%d %H:%M') as stamped,
 'P' || md5(cast(id as varchar)) as plate, id % 700 as cents
from range(1, ${bridge_tolls} + 1) as made (id);
