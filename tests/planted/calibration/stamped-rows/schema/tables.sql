create table lab_rules (rule_no int primary key, kind int not null, bound int not null);
create table samples (sample_no bigint auto_increment primary key, kind int not null, rules int not null default 0);
insert into lab_rules select seq, seq % ${kinds} + 1, seq % 77 from seq_1_to_500;
