create table pumps as select id, id % 300 as bar from generate_series(1, ${pumps}) as made (id);
alter table pumps add primary key (id);
create table archive_a as select id, md5(id::text) as body from generate_series(1, ${archive}) as made (id);
create table archive_b as select id, md5(id::text) as body from generate_series(1, ${archive}) as made (id);
alter table archive_a add primary key (id);
create index archive_a_body on archive_a (body);
create index archive_b_body on archive_b (body);
