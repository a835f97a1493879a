"""Spark: a master, workers and a driver that is asked over JDBC, over files of Parquet."""
