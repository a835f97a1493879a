-- Upkeep of tables under way, by workers of the server and by sessions, and the oldest snapshots: dead rows younger than
-- these stay. What each does, its client, state, age of its transaction, transactions since its snapshot, table, statement.
with activity as materialized (
    select
        pid, backend_type, coalesce(nullif(application_name, ''), usename::text, backend_type) as application,
        state, query, datname = current_database() as is_here,
        extract(epoch from clock_timestamp() - xact_start)::float8 as transaction_s,
        greatest(age(backend_xmin), age(backend_xid))::float8 as behind
    from pg_stat_activity
    where pid <> pg_backend_pid()
),
progress as (
    select pid, 'vacuum' as work, relid from pg_stat_progress_vacuum
    union all
    select pid, 'analyze', relid from pg_stat_progress_analyze
    union all
    select pid, lower(command), relid from pg_stat_progress_cluster
    union all
    select pid, lower(command), relid from pg_stat_progress_create_index
    union all
    select pid, 'backup', null from pg_stat_progress_basebackup
),
upkeep as (
    select
        a.pid, a.backend_type, a.application, a.state, a.transaction_s, a.query,
        case when a.backend_type = 'autovacuum worker' then 'autovacuum' else p.work end as work,
        case when a.is_here then p.relid::regclass::text end as object
    from activity as a
    left join progress as p on p.pid = a.pid
    where p.pid is not null or a.backend_type = 'autovacuum worker'
)
select pid, work, application, state, transaction_s, null::float8, object, left(query, 200)
from upkeep
union all
(
    select pid, 'snapshot', application, state, transaction_s, behind, null, left(query, 200)
    from activity
    -- A vacuum's own snapshot keeps nothing.
    where transaction_s >= 1 and behind >= 100 and pid not in (select pid from upkeep)
    order by behind desc
    limit 3
)
union all
(
    select
        0, 'snapshot', 'prepared transaction ' || gid, 'prepared',
        extract(epoch from clock_timestamp() - prepared)::float8, age(transaction)::float8, null, null
    from pg_prepared_xacts
    where age(transaction) >= 100
    order by age(transaction) desc
    limit 1
)
