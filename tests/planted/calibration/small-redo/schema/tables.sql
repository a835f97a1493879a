create table markers (marker int primary key, place int not null, note varchar(700) not null);
set session cte_max_recursion_depth = 10000000;
insert into markers
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${markers})
select id, 0, repeat('n', 300) from made;
