-- Names of all indexes.
select index_name from duckdb_indexes()
