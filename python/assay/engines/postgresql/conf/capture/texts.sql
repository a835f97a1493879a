-- The texts of statements, with $1, $2, ... in the places of constants; a role that may not read one gets none.
select queryid::text, min(query)
from pg_stat_statements(true)
where dbid = (select oid from pg_database where datname = current_database())
  and queryid::text = any(%s)
group by queryid
