-- Extensions of this database; without its library, pg_stat_statements is there and cannot be read.
select extname
from pg_extension
where extname <> 'pg_stat_statements' or current_setting('pg_stat_statements.max', true) is not null
