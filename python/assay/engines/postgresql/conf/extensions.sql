-- Extensions that Assay reads and that this server could have, but has not yet.
select name
from pg_available_extensions
where installed_version is null
  and (name = 'pg_buffercache'
       -- Only a loaded library has a setting with a value.
       or name = 'pg_stat_statements' and current_setting('pg_stat_statements.max', true) is not null)
