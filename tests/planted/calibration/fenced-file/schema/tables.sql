create table herbarium (plant integer primary key, family integer not null, about text not null);
insert into herbarium
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${plants})
select id, id % 412, printf('plant %d %.*c', id, 260, 'x') from made;
