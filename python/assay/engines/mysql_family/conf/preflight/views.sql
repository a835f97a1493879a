-- Views with these names in the session's database, and their queries, which only some users see. The catalogue writes
-- the database before each table and column.
select table_name, replace(view_definition, concat('`', database(), '`.'), '')
from information_schema.views
where table_schema = database() and find_in_set(lower(table_name), {names}) and view_definition <> ''
