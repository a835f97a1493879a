create table loyalty_points (member_no int primary key, points bigint not null, nights int not null);
set session cte_max_recursion_depth = 10000000;
insert into loyalty_points
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${loyalty_points})
select id, 0, 0 from made;
