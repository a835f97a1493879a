create table protocols (protocol int primary key, signatures int not null);
set session cte_max_recursion_depth = 10000000;
insert into protocols
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${protocols})
select id, 0 from made;
