-- Columns of the tables and views with these names in order, with their declared types, and whether they are never null.
-- An integer primary key is the number of the row, which is never null, if no index has the key.
select
    l.name,
    c.name,
    c.type,
    l.type = 'table' and (
        c."notnull"
        or l.wr = 0 and c.pk = 1 and upper(c.type) = 'INTEGER'
        and (select count(*) from pragma_table_info(l.name) where pk > 0) = 1
        and not exists (select 1 from pragma_index_list(l.name) where origin = 'pk')
    )
from pragma_table_list as l
join pragma_table_xinfo(l.name) as c on c.hidden <> 1
where l.schema = 'main' and lower(l.name) in (select value from json_each(?))
order by l.name, c.cid
