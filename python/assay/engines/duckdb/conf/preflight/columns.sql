-- Columns of the tables and views with these names in the current schema, with their types, and whether they are never
-- null, which is not known of views.
select c.table_name, c.column_name, c.data_type, not c.is_nullable and t.table_oid is not null
from duckdb_columns() as c
left join duckdb_tables() as t on t.table_oid = c.table_oid and t.database_oid = c.database_oid
where c.database_name = current_database()
  and c.schema_name = current_schema()
  and list_contains(?::varchar[], lower(c.table_name))
order by c.table_name, c.column_index
