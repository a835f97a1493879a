select extname from pg_extension
