-- why: what a trigger of a table reads for each changed row, which no plan shows
select trigger_name, event_object_table, lower(event_manipulation), action_statement, event_object_schema
from information_schema.triggers
where event_object_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
order by event_object_schema, event_object_table, action_order
