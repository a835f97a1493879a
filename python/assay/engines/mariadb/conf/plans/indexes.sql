-- Indexes of all tables that are not the server's own, those of the session's database first: a row a key column in
-- order, with its indexed length if that is not all of it, with the type of the column, for an index that the optimiser
-- may not use why that is and what changes it, the table's schema, and the direction of the column.
select s.table_name, s.index_name,
  if(s.sub_part is null or s.index_type = 'SPATIAL', s.column_name, concat(s.column_name, '(', s.sub_part, ')')),
  s.non_unique = 0, s.ignored = 'NO', lower(s.index_type), c.data_type,
  if(s.ignored = 'NO', null, 'ignored'),
  if(s.ignored = 'NO', null, concat('alter table `', s.table_schema, '`.`', s.table_name, '` alter index `', s.index_name, '` not ignored')),
  s.table_schema, if(s.collation = 'D', 'desc', 'asc')
from information_schema.statistics s
left join information_schema.columns c
  on c.table_schema = s.table_schema and c.table_name = s.table_name and c.column_name = s.column_name
where s.table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
order by not s.table_schema <=> database(), s.table_schema, s.table_name, s.index_name, s.seq_in_index
