-- Begins to count anew what sys_d_stat counts.
select key_stat(key_table, name_part(key_name, 2, key_name), 'reset')
from sys_keys
where key_migrate_to is null
