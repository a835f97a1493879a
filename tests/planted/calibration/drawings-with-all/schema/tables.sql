set session cte_max_recursion_depth = 10000000;
create table site_drawings (id int primary key, site int not null, title varchar(60) not null, revision int not null, vector mediumtext not null, key site_drawings_site (site));
insert into site_drawings
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${site_drawings})
select id, id % 40 + 1, concat('drawing ', id), id % 9, repeat(concat('line ', id, ' to ', id * 37, ' by ', id * 11, '; '), 1800) from made;
create table drawing_changes (id int primary key, drawing int not null, hours int not null);
insert into drawing_changes
with recursive made (id) as (select 1 union all select id + 1 from made where id < 20000)
select id, id % ${site_drawings}, id % 7 from made;
