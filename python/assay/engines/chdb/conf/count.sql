select count() as rows from {table}
