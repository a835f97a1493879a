set transaction isolation level repeatable read;
select sum(entered) from doors;
