-- Columns of the tables and views with these names that are found without a schema, with their types, and whether they
-- are never null. Tables that inherit from a table may have nulls, and so may foreign tables, and rows that are older
-- than a constraint that is not validated.
select
    c.relname,
    a.attname,
    format_type(a.atttypid, a.atttypmod),
    a.attnotnull
        and (c.relkind = 'p' or c.relkind = 'r' and not c.relhassubclass)
        and not exists (
            select from pg_constraint as n
            where n.conrelid = c.oid
              and n.contype = 'n'
              and not n.convalidated
              and n.conkey = array[a.attnum]
        )
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and lower(c.relname) = any (%s)
  and pg_table_is_visible(c.oid)
order by c.relname, a.attnum
