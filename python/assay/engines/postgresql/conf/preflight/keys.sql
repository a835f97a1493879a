-- Columns of the unique indexes of these tables that hold for all rows at any time, and compare values as the columns
-- do. Rows of tables that inherit from a table are not in its indexes.
select
    c.relname,
    array(
        select a.attname::text
        from generate_series(0, x.indnkeyatts - 1) as n
        join pg_attribute as a on a.attrelid = x.indrelid and a.attnum = x.indkey[n]
        order by n
    )
from pg_index as x
join pg_class as c on c.oid = x.indrelid
where x.indisunique
  and x.indisvalid
  and x.indimmediate
  and not x.indisexclusion
  and x.indpred is null
  and x.indexprs is null
  and (c.relkind = 'p' or c.relkind = 'r' and not c.relhassubclass)
  and lower(c.relname) = any (%s)
  and pg_table_is_visible(c.oid)
  and not exists (
      select from generate_series(0, x.indnkeyatts - 1) as n
      join pg_attribute as a on a.attrelid = x.indrelid and a.attnum = x.indkey[n]
      join pg_opclass as o on o.oid = x.indclass[n]
      where not o.opcdefault or x.indcollation[n] <> a.attcollation
  )
order by c.relname
