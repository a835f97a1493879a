create table stock (article int primary key, amount int not null, reserved int not null);
set session cte_max_recursion_depth = 10000000;
insert into stock
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${articles})
select id, 1000000, 0 from made;
