create table couriers (courier_no int primary key, depot int not null, bike int not null, note varchar(80) not null, key couriers_depot (depot), key couriers_bike (bike));
set session cte_max_recursion_depth = 10000000;
insert into couriers
with recursive made (id) as (select 1 union all select id + 1 from made where id < 60000)
select id, (id * 17) % 20011, (id * 31) % 19997, repeat('c', 60) from made;
