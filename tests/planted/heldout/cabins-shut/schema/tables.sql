create table ferry_cabins (cabin int primary key, booked int not null) with (fillfactor = 50);
insert into ferry_cabins select id, 0 from generate_series(1, ${cabins}) as made (id);
