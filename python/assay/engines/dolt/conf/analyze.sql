analyze table {table}
