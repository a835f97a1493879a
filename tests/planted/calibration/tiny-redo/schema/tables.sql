create table remarks (remark int primary key, version int not null, body varchar(900) not null);
set session cte_max_recursion_depth = 10000000;
insert into remarks
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${remarks})
select id, 0, repeat('q', 500) from made;
