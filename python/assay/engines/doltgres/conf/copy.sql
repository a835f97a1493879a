-- Of the forms that PostgreSQL has, Doltgres reads the two of texts.
copy {table} from stdin (format csv)
