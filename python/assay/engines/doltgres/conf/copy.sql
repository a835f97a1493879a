-- Of the forms that PostgreSQL has, Doltgres reads those of texts; the plain one keeps escapes as they stand.
copy {table} from stdin (format csv)
