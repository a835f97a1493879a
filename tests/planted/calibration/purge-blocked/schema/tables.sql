create table surgery_list (place bigint primary key auto_increment, ward int not null, patient varchar(80) not null);
set session cte_max_recursion_depth = 10000000;
insert into surgery_list (ward, patient)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${surgery_list})
select id % 12 + 1, repeat('p', 60) from made;
