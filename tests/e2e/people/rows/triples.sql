-- Each person has a name, an age and three friends; what is said of whom follows from the person's number.
with people as (select unnest(range(1, 1001)) as id)
select '<http://example.org/person/' || id || '> <http://example.org/name> "Person ' || id || '" .' || chr(10) as line
from people
union all
select '<http://example.org/person/' || id || '> <http://example.org/age> "' || id % 90
    || '"^^<http://www.w3.org/2001/XMLSchema#integer> .' || chr(10)
from people
union all
select '<http://example.org/person/' || id || '> <http://example.org/knows> <http://example.org/person/'
    || (id * 7 + k * 13) % 1000 + 1 || '> .' || chr(10)
from people, (select unnest(range(0, 3)) as k)
