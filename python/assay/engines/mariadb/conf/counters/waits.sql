-- What all threads waited for since the server started, and how long, in seconds: Performance Schema measures in
-- picoseconds. The names are looked up, because going through all that there are costs milliseconds. Only writes of the
-- log are on: `performance_schema_instrument` has others measured.
select substring(event_name, 6), 'count', count_star
from performance_schema.events_waits_summary_global_by_event_name
where event_name in (
  'wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_dblwr_file', 'wait/io/file/innodb/innodb_log_file',
  'wait/io/file/innodb/innodb_temp_file', 'wait/io/file/sql/binlog', 'wait/io/table/sql/handler',
  'wait/lock/metadata/sql/mdl', 'wait/lock/table/sql/handler'
)
union all
select substring(event_name, 6), 'seconds', sum_timer_wait / 1e12
from performance_schema.events_waits_summary_global_by_event_name
where event_name in (
  'wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_dblwr_file', 'wait/io/file/innodb/innodb_log_file',
  'wait/io/file/innodb/innodb_temp_file', 'wait/io/file/sql/binlog', 'wait/io/table/sql/handler',
  'wait/lock/metadata/sql/mdl', 'wait/lock/table/sql/handler'
)
