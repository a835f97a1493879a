-- why: pieces of values that are stored apart (TOAST), which no plan shows; of our tables
-- from: 13
select 'large values', 'pieces', coalesce(sum(pg_stat_get_tuples_fetched(x.indexrelid)), 0)::float8
from pg_stat_user_tables as s
join pg_class as r on r.oid = s.relid
join pg_index as x on x.indrelid = r.reltoastrelid
where s.schemaname = current_schema()
