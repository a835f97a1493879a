-- SQLite does not tell this setting, so it is tried.
select 'a' not like 'A'
