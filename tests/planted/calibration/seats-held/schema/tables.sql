create table sold (show_no int not null, number int not null, price int not null, key sold_show (show_no));
set session cte_max_recursion_depth = 10000000;
insert into sold
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${shows})
select id, id, 25 from made;
