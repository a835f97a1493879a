create table boxes as select id, id % 10 + 1 as depot, id % 97 as weight from generate_series(1, ${boxes}) as made (id);
create table parcels as select id, id % 1000 as street, repeat('p', 60) as label from generate_series(1, ${parcels}) as made (id);
alter table parcels add primary key (id);
create index parcels_street on parcels (street);
create index parcels_label on parcels (label, id);
