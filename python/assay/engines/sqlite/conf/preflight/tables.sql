-- Columns of tables and views in order.
select t.name, c.name
from sqlite_schema as t
join pragma_table_info(t.name) as c
where t.type in ('table', 'view')
order by t.name, c.cid
