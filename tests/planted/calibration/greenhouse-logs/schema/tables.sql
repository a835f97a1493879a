create table climate_logs as
select n as id, (n * 13) % 211 as house, timestamp '2023-01-01' + n * interval '20 seconds' as logged_at,
 n * 17 % 400 as tenths, n * 7 % 1000 as humidity, n * 3 % 5000 as light, repeat('c', 30) as sensor
from generate_series(1, ${climate_logs}) as made (n);
alter table climate_logs add primary key (id);
