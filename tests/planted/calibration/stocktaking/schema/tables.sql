create table goods (good int primary key, amount int not null);
insert into goods select seq, 1000 from seq_1_to_${goods};
