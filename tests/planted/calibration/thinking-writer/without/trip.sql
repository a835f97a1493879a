-- The sum first, then the booking.
select sum(kilometres) as kilometres, sum(booked) as booked from legs where leg % 10 = ${leg} % 10;
begin immediate;
update legs set booked = booked + 1 where leg = ${leg};
commit;
