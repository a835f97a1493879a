"""Spark: a master, workers and a driver that is queried over JDBC, with Parquet files."""
