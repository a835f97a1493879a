delete from DB.DBA.SYS_COL_STAT
