analyze no_write_to_binlog table {table}
