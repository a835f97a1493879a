create table lamps (lamp int primary key, lit int not null);
set session cte_max_recursion_depth = 10000000;
insert into lamps
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${lamps})
select id, id % 2 from made;
