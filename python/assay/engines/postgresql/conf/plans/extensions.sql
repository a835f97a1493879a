-- Extensions that the server has, and whether they are in the database.
select name, installed_version is not null from pg_available_extensions order by name
