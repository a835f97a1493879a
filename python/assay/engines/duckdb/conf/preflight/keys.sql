-- Columns of the primary keys, unique constraints and unique indexes of these tables in the current schema. An index has
-- a list of expressions as text, in which a name may be quoted; what is no name is no column of the table.
with keys as (
    select database_name, schema_name, table_name, constraint_column_names as columns
    from duckdb_constraints()
    where constraint_type in ('PRIMARY KEY', 'UNIQUE')
    union all
    select
        database_name,
        schema_name,
        table_name,
        [if(e[1] = '"', replace(e[2:-2], '""', '"'), e) for e in expressions::varchar[]]
    from duckdb_indexes()
    where is_unique
)
select table_name, columns
from keys
where database_name = current_database()
  and schema_name = current_schema()
  and list_contains(?::varchar[], lower(table_name))
order by all
