-- why: what each statement took; the hundred that took longest, because all would take too long to read
-- from: 14
-- extension: pg_stat_statements
select s.queryid::text, c.key, c.value::text::float8
from (
    select *
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and queryid is not null
    order by total_exec_time + total_plan_time desc
    limit 100
) as s
cross join lateral jsonb_each(
    to_jsonb(s) - array['userid', 'dbid', 'queryid', 'query', 'toplevel']
) as c
where jsonb_typeof(c.value) = 'number' and c.value::text::float8 <> 0
