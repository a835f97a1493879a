create table DB.DBA.assay_statistics as select * from DB.DBA.SYS_COL_STAT with data
