-- The schema in which the extension for hypothetical indexes was installed.
select nspname from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
where extname = 'hypopg'
