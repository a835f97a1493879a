create table people as select id as person, 0 as hours from generate_series(1, ${people}) as made (id);
alter table people add primary key (person);
