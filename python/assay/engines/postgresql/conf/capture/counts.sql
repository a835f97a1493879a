-- How often each statement of this database was executed, by clients and not within functions.
select /* assay capture */ queryid::text, sum(calls)::bigint
from pg_stat_statements(false)
where dbid = (select oid from pg_database where datname = current_database())
  and queryid is not null and toplevel
group by queryid
