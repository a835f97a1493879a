"""Virtuoso: a column store whose pipelines work on vectors of rows."""
