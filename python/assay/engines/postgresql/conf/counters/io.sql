-- why: reads, writes, extensions and hits by who does them and for what; the view is new in 16
-- from: 16
select concat_ws(' ', i.backend_type, i.object, i.context), c.key, c.value::text::float8
from pg_stat_io as i
cross join lateral jsonb_each(to_jsonb(i)) as c
where jsonb_typeof(c.value) = 'number' and c.value::text::float8 <> 0
