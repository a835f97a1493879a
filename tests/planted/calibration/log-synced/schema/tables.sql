create table belts (belt integer primary key, bottles integer not null);
insert into belts
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${belts})
select id, 0 from made;
