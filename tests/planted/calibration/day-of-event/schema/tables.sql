create table alarms (alarm_no int primary key, raised datetime not null, level int not null, source varchar(50) not null, key alarms_raised (raised));
insert into alarms select seq, timestampadd(minute, seq * 3 % 43200, '2024-03-01 00:00:00'), seq % 5, concat('source ', seq % 90) from seq_1_to_${alarms};
