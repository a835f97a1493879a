create table mails (mail int primary key, seen int not null, subject varchar(60) not null);
insert into mails select seq, 0, concat('subject ', seq) from seq_1_to_${mails};
