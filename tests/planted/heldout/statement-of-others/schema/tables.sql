create table phones (phone int primary key, owner varchar(60) not null, contract int not null);
set session cte_max_recursion_depth = 10000000;
insert into phones
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${phones})
select id, md5(id), id % 33 from made;
