-- why: transactions, rows, blocks, temporary files and waits of the database that is asked
-- from: 13
select d.datname, c.key, c.value::text::float8
from pg_stat_database as d
cross join lateral jsonb_each(to_jsonb(d) - 'datid') as c
where d.datname = current_database() and jsonb_typeof(c.value) = 'number'
