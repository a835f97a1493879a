-- Columns of the partition key of each partitioned table, in order, without expressions.
select
    t.relname,
    array(
        select a.attname::text
        from unnest(p.partattrs::int2[]) with ordinality as k (attnum, place)
        join pg_attribute as a on a.attrelid = p.partrelid and a.attnum = k.attnum
        order by k.place
    )
from pg_partitioned_table as p
join pg_class as t on t.oid = p.partrelid
order by t.relname
