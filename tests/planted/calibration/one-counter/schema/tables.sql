create table number_ranges as select id, 0 as last from generate_series(1, ${ranges}) as made (id);
alter table number_ranges add primary key (id);
create table numbered (range_no int not null, number int not null);
