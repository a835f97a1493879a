-- Indexes of the tables that sessions see, a row a key column in order.
select table_name, index_name, column_name, non_unique = 0, ignored = 'NO', lower(index_type)
from information_schema.statistics
where table_schema = database()
order by table_name, index_name, seq_in_index
