-- Foreign keys of all tables that are not the server's own, with their columns in order.
select
    c.conname,
    t.relname,
    array(
        select a.attname::text
        from unnest(c.conkey) with ordinality as k (attnum, place)
        join pg_attribute as a on a.attrelid = c.conrelid and a.attnum = k.attnum
        order by k.place
    ),
    r.relname,
    t.relnamespace::regnamespace::text
from pg_constraint as c
join pg_class as t on t.oid = c.conrelid
join pg_class as r on r.oid = c.confrelid
where c.contype = 'f'
order by t.relname, c.conname
