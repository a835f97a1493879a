-- Statements that are executed now, as their clients sent them; those that were cut off are left out.
select query_id::text, query
from pg_stat_activity
where query_id is not null
  and datname = current_database()
  and octet_length(query) < pg_size_bytes(current_setting('track_activity_query_size')) - 4
