select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE' order by 1
