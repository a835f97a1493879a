create table berry_punnets (punnet int primary key, cents int not null);
insert into berry_punnets select seq, seq % 700 from seq_1_to_${punnets};
