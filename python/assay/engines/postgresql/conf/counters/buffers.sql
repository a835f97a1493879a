-- why: how full and how dirty the buffer cache is; cheap only since the summary of 16
-- from: 16
-- extension: pg_buffercache
select 'shared buffers', c.key, c.value::text::float8
from pg_buffercache_summary() as s
cross join lateral jsonb_each(to_jsonb(s)) as c
where jsonb_typeof(c.value) = 'number'
