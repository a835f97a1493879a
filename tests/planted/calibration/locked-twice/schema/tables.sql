create table boxes as select id as box, 0 as counted, 0 as weight from generate_series(1, ${boxes}) as made (id);
alter table boxes add primary key (box);
