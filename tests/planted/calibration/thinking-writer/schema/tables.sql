create table legs (leg integer primary key, kilometres integer not null, booked integer not null);
insert into legs
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${legs})
select id, id % 700, 0 from made;
