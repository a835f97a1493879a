create table berths (berth int primary key, nights int not null, boat varchar(30) not null);
set session cte_max_recursion_depth = 10000000;
insert into berths
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${berths})
select id, 0, concat('boat ', id % 700) from made;
