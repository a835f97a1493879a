create table sensors (id int primary key, kind int not null, reading double not null, remark char(200) not null);
insert into sensors select seq, seq % 12, seq / 7, 'checked in the course of the last inspection' from seq_1_to_${sensors};
