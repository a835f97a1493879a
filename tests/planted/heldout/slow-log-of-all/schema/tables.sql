create table yarn_spools (spool int primary key, metres int not null, dye varchar(40) not null);
insert into yarn_spools select seq, seq % 800, concat('dye ', seq % 50) from seq_1_to_${spools};
