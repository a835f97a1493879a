create table gas_counters (counter int primary key, serial int not null, cubic int not null, street varchar(60) not null);
set session cte_max_recursion_depth = 10000000;
insert into gas_counters
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${gas_counters})
select id, (id * 7) % ${gas_counters} + 1, 0, repeat('s', 40) from made;
