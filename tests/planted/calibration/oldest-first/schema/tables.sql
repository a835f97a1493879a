create table cases (case_no int primary key, clerk int not null, opened int not null, subject varchar(60) not null, key cases_clerk (clerk));
insert into cases select seq, seq % ${clerks} + 1, seq * 7919 % 1000003, repeat('s', 50) from seq_1_to_${cases};
