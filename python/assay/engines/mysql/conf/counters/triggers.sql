-- why: calls and time of triggers, which no plan shows
select object_name, 'calls', count_star
from performance_schema.events_statements_summary_by_program
where object_type = 'TRIGGER' and object_schema not in ('mysql', 'sys') and count_star > 0
union all
select object_name, 'seconds', sum_timer_wait / 1e12
from performance_schema.events_statements_summary_by_program
where object_type = 'TRIGGER' and object_schema not in ('mysql', 'sys') and count_star > 0
