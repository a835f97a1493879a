-- All in one transaction.
begin immediate;
select sum(kilometres) as kilometres, sum(booked) as booked from legs where leg % 10 = ${leg} % 10;
update legs set booked = booked + 1 where leg = ${leg};
commit;
