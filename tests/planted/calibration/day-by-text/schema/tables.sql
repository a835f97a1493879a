create table lodge_stays (id integer primary key, arrived integer not null, beds integer not null, lodge integer not null);
insert into lodge_stays
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${lodge_stays})
select id, 1600000000 + (id * 7919) % 31536000, id % 7, id % 150 from made;
create index lodge_stays_arrived on lodge_stays (arrived);
