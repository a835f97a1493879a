-- Rows found and pages read by index, since the server was started or was told to count anew.
select name_part(key_table, 2) as key_of, name_part(index_name, 2, index_name) as index_of, touches as touches,
  reads as reads
from sys_d_stat
where touches > 0 or reads > 0
