create table phone_calls (call_no int primary key, caller int not null, cell int not null, seconds int not null);
insert into phone_calls select seq, seq * 7919 % 120011, seq % 17, seq % 600 from seq_1_to_${calls};
