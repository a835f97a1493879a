-- Every process of the server, the one that asks among them: its time is not the sessions'.
select pid, leader_pid, backend_type, nullif(application_name, ''), state, wait_event_type, wait_event
from pg_stat_activity
