create table pet_treatments (id int primary key, keeper int not null, drug int not null, cents int not null, remark varchar(100) not null);
set session cte_max_recursion_depth = 10000000;
insert into pet_treatments
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${pet_treatments})
select id, (id * 4099) % ${keepers} + 1, id % 61, id % 9001, repeat('v', 40) from made;
