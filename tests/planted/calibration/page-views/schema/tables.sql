create table views (id integer primary key, page integer not null, seconds integer not null, agent text not null);
insert into views
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${views})
select id, (id * 37) % ${pages} + 1, id % 60, 'browser number ' || (id % 50) from made;
