-- why: pages that the background writer writes; until 16 it counts checkpoints, too
-- from: 13
select 'background writer', c.key, c.value::text::float8
from pg_stat_bgwriter as b
cross join lateral jsonb_each(to_jsonb(b)) as c
where jsonb_typeof(c.value) = 'number'
