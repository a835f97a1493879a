select count(*) from {table}
