create table pilots as select id, 'pilot ' || id as called, id % 25 as club from range(1, ${pilots} + 1) as made (id);
create table glider_flights as
select id, (id * 31) % ${pilots} + 1 as left_seat, (id * 57 + 5) % ${pilots} + 1 as right_seat, id % 190 as minutes
from range(1, ${glider_flights} + 1) as made (id);
