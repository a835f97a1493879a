create table reinsurance_quotes (quote int primary key, premium int not null);
insert into reinsurance_quotes select seq, (seq * 7) % 9000 from seq_1_to_${quotes};
