create table books (book int primary key, title varchar(60) not null, year int not null, blurb varchar(600) not null);
insert into books select seq, concat('book ', seq), 1900 + seq % 120, repeat('b', 500) from seq_1_to_${books};
