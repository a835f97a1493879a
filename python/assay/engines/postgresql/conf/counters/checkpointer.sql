-- why: checkpoints by their cause, and what they wrote; a view of its own since 17
-- from: 17
select 'checkpointer', c.key, c.value::text::float8
from pg_stat_checkpointer as p
cross join lateral jsonb_each(to_jsonb(p)) as c
where jsonb_typeof(c.value) = 'number'
