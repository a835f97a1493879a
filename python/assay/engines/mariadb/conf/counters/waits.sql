-- What all threads waited for since the server started, and how long, in seconds: Performance Schema measures in
-- picoseconds. It is off by default: `--set
-- performance_schema=ON --set performance_schema_instrument='wait/%=ON'`.
select substring_index(event_name, '/', -3), 'count', count_star
from performance_schema.events_waits_summary_global_by_event_name
where count_star > 0 and event_name like 'wait/%' and event_name not like 'wait/io/socket/%'
union all
select substring_index(event_name, '/', -3), 'seconds', sum_timer_wait / 1e12
from performance_schema.events_waits_summary_global_by_event_name
where count_star > 0 and event_name like 'wait/%' and event_name not like 'wait/io/socket/%'
