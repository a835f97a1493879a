create table trains (train int primary key, title varchar(30) not null, minute int not null);
insert into trains select seq, concat('train ', seq), seq % 1440 from seq_1_to_${trains};
