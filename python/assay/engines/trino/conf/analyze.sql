analyze {table}
