-- Tables of the namespace that new tables go to, the largest first, so that none is alone at the end.
select relname
from pg_class
where relnamespace = current_schema()::regnamespace and relkind in ('r', 'm')
order by pg_relation_size(oid) desc
