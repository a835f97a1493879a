create table rooms (id integer primary key, visits integer not null);
insert into rooms
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${rooms})
select id, 0 from made;
create table imported (id integer primary key, note text not null);
