-- why: pieces of values that are stored apart (TOAST), which no plan shows; of all but the server's own tables
-- from: 13
select 'large values', 'pieces', coalesce(sum(pg_stat_get_tuples_fetched(x.indexrelid)), 0)::float8
from pg_class as r
join pg_namespace as n on n.oid = r.relnamespace
join pg_index as x on x.indrelid = r.reltoastrelid
where n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
