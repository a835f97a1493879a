-- why: live, dead and changed rows, size and statistics of tables, in the words of record-format.md; of all schemas but
-- the server's own, those with most rows: a database may have thousands. A table that needs its schema has it in its name
-- from: 13
select
    case when pg_table_is_visible(t.oid) then t.relname::text else t.nspname || '.' || t.relname end,
    c.counter,
    c.value
from (
    select
        r.oid, r.relname, r.relowner, r.relnamespace, r.reltuples, r.relpages, r.relallvisible,
        n.nspname
    from pg_class as r
    join pg_namespace as n on n.oid = r.relnamespace
    where r.relkind in ('r', 'm', 'p') and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
    order by pg_stat_get_live_tuples(r.oid) + pg_stat_get_dead_tuples(r.oid) desc, r.relpages desc
    limit 300
) as t
cross join lateral (
    values
        ('rows', pg_stat_get_live_tuples(t.oid)::float8),
        ('dead_rows', pg_stat_get_dead_tuples(t.oid)::float8),
        ('changed_rows', pg_stat_get_mod_since_analyze(t.oid)::float8),
        ('estimated_rows', nullif(t.reltuples, -1)::float8),
        ('visible_share', t.relallvisible::float8 / nullif(greatest(t.relpages, 0), 0)),
        ('bytes', pg_relation_size(t.oid)::float8),
        (
            'analyzed',
            (
                coalesce(pg_stat_get_last_analyze_time(t.oid), pg_stat_get_last_autoanalyze_time(t.oid))
                is not null
            )::int::float8
        ),
        (
            'alterable',
            (pg_has_role(t.relowner, 'usage') and has_schema_privilege(t.relnamespace, 'create'))::int::float8
        )
) as c (counter, value)
where c.value is not null
