create table receipts (receipt int primary key, cents int not null, branch int not null);
set session cte_max_recursion_depth = 10000000;
insert into receipts
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${receipts})
select id, id % 7000, id % 11 from made;
