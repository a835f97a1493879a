"""Pure functions over records: tables in, tables and figures out."""
