-- PostgreSQL's settings are there by name and mean nothing here; Dolt's own decide.
select name, setting from pg_settings where name like 'dolt%' order by 1
