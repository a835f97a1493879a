create table phones (phone int primary key, owner varchar(64) not null, contract int not null);
set session cte_max_recursion_depth = 10000000;
insert into phones
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${phones})
select id, sha2(id, 256), id % 33 from made;
