-- A cabin is booked.
begin;
update ferry_cabins set booked = booked + 1 where cabin = ${cabin};
commit;
