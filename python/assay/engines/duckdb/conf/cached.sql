-- Blocks of tables in memory; of which table they are is not told.
select memory_usage_bytes from duckdb_memory() where tag = 'BASE_TABLE'
