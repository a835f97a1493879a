delete from DB.DBA.LOAD_LIST where LL_FILE = ?
