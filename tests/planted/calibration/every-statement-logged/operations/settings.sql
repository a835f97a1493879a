-- What is it set to?
begin;
select level from devices where id = ${device};
select title from devices where id = ${device} + 1;
select level from devices where id = ${device} + 2;
select title from devices where id = ${device} + 3;
commit;
