-- Columns of tables and views in order; those of the system are left out.
select schema_name, table_name, list(column_name order by column_index)
from duckdb_columns()
where not internal
group by all
order by all
