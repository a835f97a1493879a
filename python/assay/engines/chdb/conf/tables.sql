select name from system.tables where database = currentDatabase() order by name
