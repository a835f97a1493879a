create table comets_north (id int primary key, seen int not null, bright int not null);
create table comets_south (id int primary key, seen int not null, bright int not null);
set session cte_max_recursion_depth = 10000000;
insert into comets_north
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${comets_north})
select id, (id * 7919) % 100003, id % 31 from made;
insert into comets_south
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${comets_south})
select id, (id * 104729) % 100003, id % 29 from made;
