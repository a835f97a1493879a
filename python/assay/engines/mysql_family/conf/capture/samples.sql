-- The last statements of each session as they were sent; what is as long as a text may be is cut.
select /* assay capture */ thread_id, event_id, digest, sql_text
from performance_schema.events_statements_history
where current_schema = database() and digest is not null and sql_text is not null
  and octet_length(sql_text) < coalesce(@@performance_schema_max_sql_text_length, 1024) - 3
