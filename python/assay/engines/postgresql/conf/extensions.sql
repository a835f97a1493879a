-- Extensions that Assay reads and that this server could have, but has not yet.
select name
from pg_available_extensions
where installed_version is null
  and (name = 'pg_buffercache'
       or name = 'pg_stat_statements'
          and current_setting('shared_preload_libraries') like '%pg_stat_statements%')
