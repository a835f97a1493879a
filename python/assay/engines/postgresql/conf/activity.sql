-- Every process of the server but the one that asks.
select pid, leader_pid, backend_type, nullif(application_name, ''), state, wait_event_type, wait_event
from pg_stat_activity
where pid <> pg_backend_pid()
