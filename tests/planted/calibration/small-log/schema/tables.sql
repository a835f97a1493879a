create table memos (memo int primary key, version int not null, body varchar(800) not null);
insert into memos select seq, 0, repeat('m', 400) from seq_1_to_${memos};
