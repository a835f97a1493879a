create table turnstiles (turnstile int primary key, passed int not null);
set session cte_max_recursion_depth = 10000000;
insert into turnstiles
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${turnstiles})
select id, 0 from made;
