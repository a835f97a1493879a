create table tasks (task int primary key, state int not null);
insert into tasks select seq, 0 from seq_1_to_${tasks};
