-- Views with these names in the current schema, and the statements that create them.
select view_name, sql
from duckdb_views()
where not internal
  and database_name = current_database()
  and schema_name = current_schema()
  and list_contains(?::varchar[], lower(view_name))
