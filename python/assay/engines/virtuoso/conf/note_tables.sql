create table DB.DBA.assay_first_tables as select distinct KEY_TABLE from DB.DBA.SYS_KEYS with data
