-- Has this connection read the statistics anew that are in the file.
analyze sqlite_schema
