-- Indexes that are not named as their table is.
select key_name, name_part(key_table, 2) as key_of
from sys_keys
where key_migrate_to is null
  and name_part(key_name, 2, key_name) <> name_part(key_table, 2)
  and key_table not like 'DB.DBA.SYS%'
