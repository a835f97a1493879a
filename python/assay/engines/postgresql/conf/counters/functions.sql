-- why: calls and time of functions that the server does not inline, which no plan shows (track_functions)
-- from: 13
select f.funcname, c.counter, c.value
from pg_stat_user_functions as f
cross join lateral (
    values ('calls', f.calls::float8), ('seconds', f.self_time / 1000)
) as c (counter, value)
