insert into DB.DBA.SYS_COL_STAT select * from DB.DBA.assay_statistics
