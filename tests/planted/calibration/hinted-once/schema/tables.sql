create table vineyard_harvests (id int primary key, slope int not null, grape int not null, kilos int not null, remark varchar(60) not null, key vineyard_harvests_slope (slope));
set session cte_max_recursion_depth = 10000000;
insert into vineyard_harvests
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${vineyard_harvests})
select id, (id * 31) % ${slopes} + 1, id % 23, id % 4001, repeat('w', 30) from made;
