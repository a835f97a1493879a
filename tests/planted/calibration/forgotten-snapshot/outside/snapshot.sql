set transaction isolation level repeatable read;
select count(*) from clocks;
