create table brew_tanks (tank int primary key, average int not null);
create table brew_temperatures (id bigint primary key auto_increment, tank int not null, tenths int not null, key brew_temperatures_tank (tank));
set session cte_max_recursion_depth = 10000000;
insert into brew_tanks
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${brew_tanks})
select id, 0 from made;
insert into brew_temperatures (tank, tenths)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${brew_temperatures})
select id % ${brew_tanks} + 1, id % 890 from made;
