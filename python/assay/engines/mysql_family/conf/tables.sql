select table_name
from information_schema.tables
where table_schema = database() and table_type = 'BASE TABLE'
order by table_name
