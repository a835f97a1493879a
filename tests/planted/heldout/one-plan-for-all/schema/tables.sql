create table emergency as
select id, case when id % 2000 = 0 then 'island' else 'metropolis' end as district, id % 24 as hour, repeat('e', 90) as report
from generate_series(1, ${emergency}) as made (id);
create index emergency_district on emergency (district);
