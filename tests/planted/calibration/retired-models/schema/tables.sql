create table models (model integer primary key, brand text not null);
create table vehicles (vin integer primary key, model integer not null references models (model), plate text not null);
insert into models
with recursive made (id) as (select 1 union all select id + 1 from made where id < 300)
select id, 'brand ' || (id % 20) from made;
insert into vehicles
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${vehicles})
select id, id % 300 + 1, 'plate ' || id from made;
