-- One row if a transaction may truncate the table and fill it with frozen rows: it is plain and empty, and no
-- foreign key leads to it.
select oid
from pg_class
where relname = %s and relnamespace = current_schema()::regnamespace and relkind = 'r'
      and not exists (select from {table})
      and not exists (select from pg_constraint where contype = 'f' and confrelid = pg_class.oid)
