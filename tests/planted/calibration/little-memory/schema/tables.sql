create table clicks as
select id, (id * 7919) % 1800000 as visitor, (id * 31) % 4093 as item
from range(1, ${clicks} + 1) as made (id);
