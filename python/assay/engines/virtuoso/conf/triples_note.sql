-- Notes a file in the server's list of files to load, where it says what was wrong with it.
insert replacing DB.DBA.LOAD_LIST (LL_FILE, LL_GRAPH, LL_STATE, LL_STARTED) values (?, ?, 1, curdatetime ())
