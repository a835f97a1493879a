-- Names of all tables.
select name from sqlite_schema where type = 'table'
