-- Views with these names, and the statements that create them.
select name, sql from sqlite_schema where type = 'view' and lower(name) in (select value from json_each(?))
