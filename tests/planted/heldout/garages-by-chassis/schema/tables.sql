create table garage_visits (visit int primary key, chassis int not null, cents int not null, work_done char(60) not null);
insert into garage_visits select seq, (seq * 31) % ${chassis} + 1, seq % 7000, 'oil and filters' from seq_1_to_${visits};
