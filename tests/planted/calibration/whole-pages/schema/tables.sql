create table price_tags as select id, 0 as cents, repeat('t', 200) as article from generate_series(1, ${tags}) as made (id);
alter table price_tags add primary key (id);
