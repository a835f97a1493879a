create table wrist_bands (guest int primary key, band int not null, drinks int not null);
insert into wrist_bands select seq, seq * 7 % 80021, seq % 9 from seq_1_to_${bands};
