create table tile_kilns (kiln int primary key, heat int not null);
insert into tile_kilns select id, 900 from generate_series(1, ${kilns}) as made (id);
create table roof_tiles as select id as tile, id % ${kilns} + 1 as kiln, id % 8 as glaze from generate_series(1, ${tiles}) as made (id);
alter table roof_tiles add foreign key (kiln) references tile_kilns;
