create table ledgers as select id, id % 9973 as cents, md5(id::text) as owner from generate_series(1, ${ledgers}) as made (id);
alter table ledgers add primary key (id);
