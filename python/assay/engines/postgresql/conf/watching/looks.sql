-- Sessions and parallel workers that execute a statement now. Of statements that the server gives
-- no number the text itself is sent. Ours are left out.
select
    pid,
    case when datname = current_database() then coalesce(query_id::text, left(query, 1000)) end,
    query_id is not null,
    leader_pid,
    nullif(application_name, ''),
    datname::text,
    wait_event_type,
    wait_event,
    greatest(0, extract(epoch from clock_timestamp() - query_start))::float8
from pg_stat_activity
where state = 'active'
  and backend_type in ('client backend', 'parallel worker')
  and application_name <> all (array['assay administration', 'assay counters', 'assay statements', 'assay plans'])
