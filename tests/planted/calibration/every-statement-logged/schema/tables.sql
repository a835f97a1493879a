create table devices as select id, id % 60 as level, 'device ' || id as title from generate_series(1, ${devices}) as made (id);
alter table devices add primary key (id);
