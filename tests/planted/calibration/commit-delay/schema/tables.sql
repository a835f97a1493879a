create table gates as select id, 0 as passed from generate_series(1, ${gates}) as made (id);
alter table gates add primary key (id);
