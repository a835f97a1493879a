-- Columns of the tables and views with these names in the session's database, with their types, and whether they are
-- never null. Only some storage engines check this, and views may have nulls.
select c.table_name, c.column_name, c.column_type,
  coalesce(c.is_nullable = 'NO' and t.table_type = 'BASE TABLE'
    and t.engine in ('InnoDB', 'MyISAM', 'Aria', 'MEMORY', 'ROCKSDB'), false)
from information_schema.columns c
join information_schema.tables t on t.table_schema = database() and t.table_name = c.table_name
where c.table_schema = database() and find_in_set(lower(c.table_name), {names})
order by c.table_name, c.ordinal_position
