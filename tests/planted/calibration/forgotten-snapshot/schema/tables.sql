create table clocks as select id, 0 as hand from generate_series(1, ${clocks}) as made (id);
alter table clocks add primary key (id);
