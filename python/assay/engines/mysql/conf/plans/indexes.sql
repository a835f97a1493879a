-- Indexes of the tables that sessions see, a row a key column in order.
select table_name, index_name, coalesce(column_name, expression), non_unique = 0, is_visible = 'YES', lower(index_type)
from information_schema.statistics
where table_schema = database()
order by table_name, index_name, seq_in_index
