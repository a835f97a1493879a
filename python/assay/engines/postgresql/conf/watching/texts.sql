-- Texts of statements, with places for their constants.
select queryid::text, min(query)
from pg_stat_statements
where queryid = any ($1::text[]::bigint[])
  and dbid = (select oid from pg_database where datname = current_database())
group by 1
