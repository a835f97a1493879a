insert into {table}
