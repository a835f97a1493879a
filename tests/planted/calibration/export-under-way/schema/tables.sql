create table doors as select id as door, 0 as entered, repeat('d', 50) as about from generate_series(1, ${doors}) as made (id);
alter table doors add primary key (door);
