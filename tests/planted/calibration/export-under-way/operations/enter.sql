-- One more, and how many are in?
begin;
update doors set entered = entered + 1 where door = ${door};
select sum(entered) from doors;
commit;
