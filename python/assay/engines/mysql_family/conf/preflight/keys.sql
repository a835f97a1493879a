-- Columns of the unique indexes of these tables, if the storage engine checks them: a row a column in order, and whether
-- the index has only the beginning of its values. An expression has no name.
select s.table_name, s.index_name, s.column_name, s.sub_part is not null
from information_schema.statistics s
join information_schema.tables t on t.table_schema = database() and t.table_name = s.table_name
where s.table_schema = database() and s.non_unique = 0 and find_in_set(lower(s.table_name), {names})
  and t.table_type = 'BASE TABLE' and t.engine in ('InnoDB', 'MyISAM', 'Aria', 'MEMORY', 'ROCKSDB')
order by s.table_name, s.index_name, s.seq_in_index
