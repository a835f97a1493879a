select __ddl_changed (?)
