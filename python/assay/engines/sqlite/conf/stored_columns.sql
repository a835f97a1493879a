-- Where a row or an entry of an index has which column, by the page that the tree begins with; a column that is the
-- number of the row itself is not kept among the others, and has the place -1.
select s.rootpage, s.tbl_name, x.seqno as place, x.name
from sqlite_schema as s
join pragma_index_xinfo(s.name) as x
where s.type = 'index' and s.rootpage > 0 and x.name is not null
union all
select s.rootpage, s.name, x.seqno, x.name
from sqlite_schema as s
join pragma_table_list(s.name) as l on l.wr = 1 and l.schema = 'main'
join pragma_index_list(s.name) as i on i.origin = 'pk'
join pragma_index_xinfo(i.name) as x
where s.type = 'table'
union all
select s.rootpage, s.name, iif(t.pk = 1 and upper(t.type) = 'INTEGER', -1, t.cid), t.name
from sqlite_schema as s
join pragma_table_list(s.name) as l on l.wr = 0 and l.schema = 'main'
join pragma_table_info(s.name) as t
where s.type = 'table' and s.rootpage > 0
