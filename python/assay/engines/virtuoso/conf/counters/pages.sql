-- Rows found, pages read, and pages of the buffer pool by index: changed ones that are not written yet, and all. The server
-- looks through the whole pool for each, so of its own indexes only those are asked of that were used.
select name_part(key_table, 2) as key_of, name_part(index_name, 2, index_name) as index_of, touches as touches,
  reads as reads, n_dirty as n_dirty, n_buffers as n_buffers
from sys_d_stat
where touches > 0
  or reads > 0
  or (key_table not in (select KEY_TABLE from DB.DBA.assay_first_tables) and key_table not like 'DB.DBA.assay_%')
