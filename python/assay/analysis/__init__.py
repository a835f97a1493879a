"""Pure functions over records: from tables to tables and figures."""
