-- Tables and views that this role may look up, with their columns in order; those of the system, and
-- what is another session's, are left out.
select n.nspname, c.relname, array_agg(a.attname order by a.attnum), pg_table_is_visible(c.oid)
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname <> 'information_schema'
  and n.nspname not like 'pg\_%'
group by n.nspname, c.relname, c.oid
order by 4 desc, 1, 2
