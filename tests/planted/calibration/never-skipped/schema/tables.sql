create table journeys as
select id, (id * 7919) % 1461 as day, (id * 31) % 907 as line, (id * 17) % 9001 as metres, md5(id::varchar) as card
from range(1, ${journeys} + 1) as made (id);
