create table {table} ({columns}) using parquet location {location}
