create table probes (id int primary key, taken bigint not null, station varchar(30) not null);
set session cte_max_recursion_depth = 10000000;
insert into probes
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${probes})
select id, (id * 7919) % 1009, concat('station ', id % 90) from made;
