create table egg_weights (id integer primary key, hen integer not null, grams integer not null);
insert into egg_weights
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${egg_weights})
select id, id % ${hens} + 1, 45 + id % 30 from made;
