-- What statements of this database have come to so far, by the number of their text; all databases', if none is chosen.
select digest as statement, sum(count_star) as calls, sum(sum_timer_wait) / 1e12 as execution_seconds,
  sum(sum_lock_time) / 1e12 as lock_seconds, sum(sum_rows_sent) as `rows`, sum(sum_rows_affected) as rows_changed,
  sum(sum_rows_examined) as rows_examined, sum(sum_created_tmp_tables) as temporary_tables,
  sum(sum_created_tmp_disk_tables) as temporary_disk_tables, sum(sum_sort_merge_passes) as sort_merge_passes,
  sum(sum_no_index_used) as without_index, sum(sum_errors) as errors
from performance_schema.events_statements_summary_by_digest
where digest is not null and (database() is null or schema_name = database())
group by digest
