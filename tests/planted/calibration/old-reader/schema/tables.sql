create table queue (id int auto_increment primary key, belt int not null);
insert into queue (belt) select seq % 8 + 1 from seq_1_to_${parcels};
