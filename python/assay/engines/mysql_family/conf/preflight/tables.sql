-- Columns of tables and views that this account may see, in order; the server's own are left out.
select table_schema, table_name, column_name, table_schema <=> database()
from information_schema.columns
where table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
order by 4 desc, table_schema, table_name, ordinal_position
