-- why: live, dead and changed rows, size and statistics of our tables, in the words of record-format.md
-- from: 13
select s.relname, c.counter, c.value
from pg_stat_user_tables as s
join pg_class as r on r.oid = s.relid
cross join lateral (
    values
        ('rows', s.n_live_tup::float8),
        ('dead_rows', s.n_dead_tup::float8),
        ('changed_rows', s.n_mod_since_analyze::float8),
        ('estimated_rows', nullif(r.reltuples, -1)::float8),
        ('bytes', pg_relation_size(s.relid)::float8),
        ('analyzed', (s.last_analyze is not null or s.last_autoanalyze is not null)::int::float8)
) as c (counter, value)
where s.schemaname = current_schema() and c.value is not null
