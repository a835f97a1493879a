-- The comment of a namespace: one row if there is the namespace.
select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = %s
