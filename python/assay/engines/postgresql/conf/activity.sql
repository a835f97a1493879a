-- Every process of the server, the one that asks among them: its time is not the sessions'. Where
-- somebody waits for a lock, one row more for each session that it waits for: both in one query.
with activity as materialized (
    select
        pid, leader_pid, backend_type, nullif(application_name, '') as application,
        state, wait_event_type, wait_event, usename, xact_start, query, client_port
    from pg_stat_activity
),
waits as materialized (
    select pid, query, unnest(pg_blocking_pids(pid)) as blocker
    from activity
    where wait_event_type = 'Lock'
),
-- Read at the first row that waits, and not at all where there is none.
locks as materialized (
    select l.pid, l.granted, l.locktype, l.mode, l.classid, l.objid, c.relname, c.relkind
    from pg_locks as l
    left join pg_class as c
        on c.oid = l.relation
        and l.database = (select oid from pg_database where datname = current_database())
)
select
    pid, leader_pid, backend_type, application,
    -- A worker of the server has a state, too, while a session has a client.
    case when client_port is not null then state end, wait_event_type, wait_event,
    null::integer as blocker, null::float8 as transaction_s, null as statement,
    null as object, null as mode, null as waiting_statement
from activity
union all
select
    w.pid, null, 'blocked', coalesce(b.application, b.usename::text, b.backend_type), b.state, null,
    null, w.blocker, extract(epoch from clock_timestamp() - b.xact_start)::float8,
    left(b.query, 200),
    -- Who waits for a row holds or wants a lock of it, unless the row is not there yet: then it is
    -- of a table that it changes. Locks by number, and of what is no table, are of no table that the
    -- transaction has locked besides. Commits that notify take turns by a lock of database 0.
    case
        when wanted.locktype = 'object' and wanted.objid = 0
            and wanted.classid = 'pg_database'::regclass
        then 'the queue of notifications'
        when wanted.locktype in ('object', 'advisory', 'userlock') then null
        else (
            select l.relname::text
            from locks as l
            where l.pid = w.pid
              and l.relname is not null
              and (not l.granted or l.locktype = 'tuple' or l.relkind in ('r', 'p'))
            order by l.granted, l.locktype <> 'tuple', l.mode <> 'RowExclusiveLock'
            limit 1
        )
    end,
    case when wanted.locktype in ('transactionid', 'tuple') then 'row' else wanted.mode end,
    left(w.query, 200)
from waits as w
left join activity as b on b.pid = w.blocker
left join lateral (
    select l.locktype, l.mode, l.classid, l.objid
    from locks as l
    where l.pid = w.pid and not l.granted
    limit 1
) as wanted on true
