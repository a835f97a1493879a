create table tolls (toll int primary key, cents int not null, class int not null);
insert into tolls select seq, seq % 5000, seq % 7 from seq_1_to_${tolls};
