create table frozen_pallets (pallet int primary key, bay int not null, kilos int not null) with (fillfactor = 60);
insert into frozen_pallets select id, id % 40, id % 700 from generate_series(1, ${frozen}) as made (id);
create index frozen_pallets_bay on frozen_pallets (bay);
