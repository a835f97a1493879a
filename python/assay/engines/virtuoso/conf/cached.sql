-- Pages of the buffer pool by index of our tables; the primary key holds the rows. A page has 8 KiB.
select name_part(key_table, 2) as key_of, name_part(index_name, 2, index_name) as index_of, n_buffers * 8192 as cached_bytes
from sys_d_stat
where n_buffers > 0
  and key_table not in (select KEY_TABLE from DB.DBA.assay_first_tables)
  and key_table not like 'DB.DBA.assay_%'
order by n_buffers desc
