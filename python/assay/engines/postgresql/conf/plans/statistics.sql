-- Statistics objects of all tables that are not the server's own: plain columns, kinds, definition, and, for the
-- tables whose owner this role is, whether any analyze has filled them.
select
    s.stxname,
    t.relname,
    array(
        select a.attname::text
        from unnest(s.stxkeys::int2[]) with ordinality as k (attnum, place)
        join pg_attribute as a on a.attrelid = s.stxrelid and a.attnum = k.attnum
        order by k.place
    ),
    array(
        select case k when 'd' then 'ndistinct' when 'f' then 'dependencies' when 'm' then 'mcv' else 'expressions' end
        from unnest(s.stxkind) as k
    ),
    pg_get_statisticsobjdef(s.oid),
    case
        when pg_has_role(t.relowner, 'usage') then exists (
            select from pg_stats_ext as e
            where to_regnamespace(quote_ident(e.statistics_schemaname)) = s.stxnamespace and e.statistics_name = s.stxname
        )
    end,
    t.relnamespace::regnamespace::text
from pg_statistic_ext as s
join pg_class as t on t.oid = s.stxrelid
order by t.relname, s.stxname
