-- Everything that DuckDB would tell about its configuration.
select name, value from duckdb_settings() order by name
