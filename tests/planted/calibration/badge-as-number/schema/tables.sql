create table employees (
  id int primary key,
  badge varchar(20) character set utf8mb4 collate utf8mb4_bin not null,
  room varchar(60) not null,
  key employees_badge (badge)
);
set session cte_max_recursion_depth = 10000000;
insert into employees
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${employees})
select id, cast(id as char), repeat('r', 50) from made;
