create table hive_weights (hive integer primary key, grams integer not null, times integer not null);
insert into hive_weights
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${hive_weights})
select id, 30000 + id % 900, 0 from made;
