-- Counts of this session, which the server's own include: each look at information_schema.processlist makes a temporary
-- table on disk.
show session status where variable_name in ('created_tmp_disk_tables', 'created_tmp_tables')
