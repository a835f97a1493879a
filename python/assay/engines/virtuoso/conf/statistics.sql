select count(*) from DB.DBA.SYS_COL_STAT
