set session cte_max_recursion_depth = 10000000;
create table well_levels (id int primary key, well int not null, day int not null, millimetres int not null, key by_day (day, well, millimetres));
insert into well_levels
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${well_levels})
select id, (id * 4099) % ${wells} + 1, id % 3653, id * 7 % 9001 from made;
