create table scrap_metal (id integer primary key, metal integer not null, price integer not null, yard integer not null);
insert into scrap_metal
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${scrap_metal})
select id, id % 8, (id * 7919) % 100003, id % 77 from made;
