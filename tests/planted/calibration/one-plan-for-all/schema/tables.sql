create table emergency as
select id, case when id % 250 = 0 then 'island' else 'metropolis' end as district, id % 24 as hour
from generate_series(1, ${emergency}) as made (id);
create table dispatches as select id, id as emergency_id, id % 90 as minutes, repeat('e', 90) as report from generate_series(1, ${emergency}) as made (id);
create index emergency_district on emergency (district);
create index dispatches_emergency on dispatches (emergency_id);
