create table trips as
select id, id % 977 as vehicle, (id * 31) % 10007 as metres, (id * 17) % 86400 as second
from range(1, ${trips} + 1) as made (id);
