create table fish_wares as
select id, 'kind-' || (id % 60) || '/box-' || ((id * 7919) % 10007) as label, id % 613 as kilos
from range(1, ${fish_wares} + 1) as made (id);
