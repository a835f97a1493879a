create table counter_parcels (id integer primary key, code integer not null, seen integer not null, about text not null);
insert into counter_parcels
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${parcels_in})
select id, (id * 7) % 20011, 0, 'a parcel of some size' from made;
