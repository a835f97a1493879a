create table addresses as select id, 0 as moved, repeat('a', 120) as street from generate_series(1, ${addresses}) as made (id);
alter table addresses add primary key (id);
