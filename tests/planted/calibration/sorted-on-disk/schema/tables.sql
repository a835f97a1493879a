create table shipments as select id, (id * 7919) % 1000003 as kilos, md5(id::text) as code from generate_series(1, ${shipments}) as made (id);
