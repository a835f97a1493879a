-- Pages of the buffer cache that hold tables and indexes of the namespace new tables go to; their parts that hold
-- long values, and maps of free space, count as theirs.
select pg_class.relname,
       count(*) * current_setting('block_size')::bigint,
       pg_table_size(pg_class.oid)
from pg_buffercache
join pg_class on pg_relation_filenode(pg_class.oid) = pg_buffercache.relfilenode
join pg_database on pg_database.oid = pg_buffercache.reldatabase and pg_database.datname = current_database()
where relnamespace = current_schema()::regnamespace
group by pg_class.oid, pg_class.relname
order by 2 desc, 1
