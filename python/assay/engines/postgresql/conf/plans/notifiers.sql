-- Functions that send notifications, themselves or by a function that they call, with the triggers that call them. Only the
-- text of a function shows it, without its remarks.
with recursive functions as materialized (
    select
        p.oid, p.proname,
        regexp_replace(regexp_replace(p.prosrc, '--[^\n]*', ' ', 'g'), '/\*.*?\*/', ' ', 'g') as source
    from pg_proc as p
    join pg_language as l on l.oid = p.prolang and l.lanname not in ('c', 'internal')
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname not in ('pg_catalog', 'information_schema')
),
notifiers as (
    select oid, proname
    from functions
    where source ~* '\mpg_notify\s*\(|\mnotify\s+"?\w+"?\s*(,\s*''|;|''|$)'
    union
    select f.oid, f.proname
    from functions as f
    join notifiers as n
        on f.source ~* ('\m' || regexp_replace(n.proname, '(\W)', '\\\1', 'g') || '\s*\(')
)
select n.proname::text, c.relname::text, t.tgname::text
from notifiers as n
left join pg_trigger as t on t.tgfoid = n.oid and not t.tgisinternal
left join pg_class as c on c.oid = t.tgrelid
order by 1, 2, 3
