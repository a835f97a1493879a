analyze table {table} compute statistics for all columns
