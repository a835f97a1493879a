create table canal_barges (barge int primary key, tonnes int not null, canal int not null);
insert into canal_barges select seq, (seq * 29) % 3000, seq % 14 from seq_1_to_${barges};
create function lock_dues(tonnes int) returns int deterministic return if(tonnes < 1000, tonnes * 2, tonnes * 3);
