-- Frozen rows are not written again when they are first read; statistics are what plans rest on.
vacuum (freeze, analyze) {table}
