create table bookings as
select id, (id * 13) % ${guests} + 1 as guest, id % 400 as room, repeat('n', 50) as note
from generate_series(1, ${bookings}) as made (id);
create index bookings_guest on bookings (guest);
