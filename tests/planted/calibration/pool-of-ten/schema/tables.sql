create table savers (saver int primary key, cents bigint not null, branch int not null, address char(180) not null);
set session cte_max_recursion_depth = 10000000;
insert into savers
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${savers})
select id, id * 3, id % 45, 'somewhere in a street of a town' from made;
