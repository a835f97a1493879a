-- why: records, bytes, writes and syncs of the log; writes and syncs moved to pg_stat_io in 18
-- from: 14
select 'wal', c.key, c.value::text::float8
from pg_stat_wal as w
cross join lateral jsonb_each(to_jsonb(w)) as c
where jsonb_typeof(c.value) = 'number'
