-- Key columns of every index, in order, with direction and collation; a column without a name is an expression, and the
-- statement that made the index has it. The key of the row itself counts as an index, too, and has no name.
select m.name, i.name, x.name, i."unique", i.partial, s.sql, x."desc", lower(x.coll)
from sqlite_schema as m
join pragma_index_list(m.name) as i
join pragma_index_xinfo(i.name) as x on x.key = 1
left join sqlite_schema as s on s.type = 'index' and s.name = i.name
where m.type = 'table'
union all
select m.name, 'rowid', t.name, 1, 0, null, 0, null
from sqlite_schema as m
join pragma_table_list(m.name) as l on l.schema = 'main' and l.wr = 0
join pragma_table_info(m.name) as t on t.pk = 1 and upper(t.type) = 'INTEGER'
where m.type = 'table' and m.rootpage > 0
and (select count(*) from pragma_table_info(m.name) where pk > 0) = 1
