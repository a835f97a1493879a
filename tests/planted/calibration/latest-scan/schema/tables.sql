create table hosts as select id as host_no, 'host-' || id as title, id % 45 as rack from generate_series(1, ${hosts}) as made (id);
create table messages as select id as message_no, (id * 11) % ${hosts} + 1 as host_no, repeat('m', 30) as body from generate_series(1, ${messages}) as made (id);
