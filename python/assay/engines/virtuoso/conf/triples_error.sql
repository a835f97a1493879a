-- What was wrong with a file; null: nothing.
select cast (LL_ERROR as varchar) as error from DB.DBA.LOAD_LIST where LL_FILE = ?
