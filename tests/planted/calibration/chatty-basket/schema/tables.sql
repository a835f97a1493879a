create table products as select id, 'product ' || id as title, id % 900 as cents from generate_series(1, ${products}) as made (id);
alter table products add primary key (id);
