create table club (member int primary key, credit int not null, address char(180) not null);
set session cte_max_recursion_depth = 10000000;
insert into club
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${club})
select id, 0, 'somewhere in town' from made;
