-- Views with these names that are found without a schema, and their queries.
select relname, pg_get_viewdef(oid)
from pg_class
where relkind = 'v' and lower(relname) = any (%s) and pg_table_is_visible(oid)
