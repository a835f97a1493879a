-- Indexes of all tables that are not the server's own: key columns in order, of each index the
-- collations and operator classes that are not those of its columns, the directions of the columns, and the table's
-- schema. The bits of indoption are those of a descending column and of nulls first.
select
    t.relname,
    i.relname,
    array(
        select pg_get_indexdef(x.indexrelid, n, true)
        from generate_series(1, x.indnkeyatts) as n
        order by n
    ),
    x.indisunique,
    x.indisvalid and x.indisready,
    pg_get_expr(x.indpred, x.indrelid),
    m.amname,
    (
        select string_agg(distinct word, ' ')
        from generate_series(0, x.indnkeyatts - 1) as n
        left join pg_attribute as a on a.attrelid = x.indrelid and a.attnum = x.indkey[n]
        left join pg_collation as c
            on c.oid = x.indcollation[n] and c.oid <> a.attcollation
        left join pg_opclass as o on o.oid = x.indclass[n] and not o.opcdefault
        cross join lateral (values (c.collname::text), (o.opcname::text)) as w (word)
        where word is not null
    ),
    array(
        select case x.indoption[n]
            when 0 then 'asc'
            when 1 then 'desc nulls last'
            when 2 then 'asc nulls first'
            else 'desc'
        end
        from generate_series(0, x.indnkeyatts - 1) as n
        order by n
    ),
    t.relnamespace::regnamespace::text
from pg_index as x
join pg_class as i on i.oid = x.indexrelid
join pg_class as t on t.oid = x.indrelid
join pg_am as m on m.oid = i.relam
where t.relnamespace <> all (array['pg_catalog'::regnamespace, 'information_schema'::regnamespace])
  and t.relnamespace <> 'pg_toast'::regnamespace
order by not pg_table_is_visible(t.oid), t.relname, i.relname
