create table cards (card int primary key, charged bigint not null);
insert into cards select seq, 0 from seq_1_to_${cards};
