create table riders (courier_no int primary key, depot int not null, bike int not null, note varchar(80) not null, key riders_depot (depot), key riders_bike (bike));
insert into riders
select seq, (seq * 17) % 20011, (seq * 31) % 19997, repeat(char(99 using utf8mb4), 60) from seq_1_to_60000;
