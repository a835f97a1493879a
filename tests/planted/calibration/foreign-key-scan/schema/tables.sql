create table carriers (id bigint primary key, title text not null);
create table parcels (
  id bigint primary key,
  carrier bigint not null references carriers (id),
  label text not null
);
insert into carriers select id, 'carrier ' || id from generate_series(1, 200) as made (id);
insert into parcels select id, id % 200 + 1, repeat('p', 60) from generate_series(1, ${parcels}) as made (id);
