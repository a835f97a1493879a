-- The last statement of each client's session as it was sent; what is as long as a text may be is cut.
select /* assay capture */ pid, query_start::text, query_id::text, query
from pg_stat_activity
where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
  and query_id is not null and octet_length(query) < %s
