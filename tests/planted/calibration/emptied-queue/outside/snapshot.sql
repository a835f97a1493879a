set transaction isolation level repeatable read;
select 1;
