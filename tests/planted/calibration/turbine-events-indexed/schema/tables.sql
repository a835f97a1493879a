create table turbine_events (id bigint auto_increment primary key, turbine int not null, code int not null, rpm int not null, volts int not null,
 pitch int not null, gusts int not null, serial varchar(40) not null, operator varchar(40) not null,
 key by_turbine (turbine, code), key by_code (code), key by_rpm (rpm), key by_volts (volts), key by_pitch (pitch, rpm),
 key by_gusts (gusts), key by_serial (serial), key by_operator (operator), key by_all (volts, gusts, turbine));
insert into turbine_events (turbine, code, rpm, volts, pitch, gusts, serial, operator)
select seq * 7919 % 9001, seq * 31 % 499, seq * 104729 % 30011, seq * 611953 % 65537, seq * 17 % 3607, seq * 15485863 % 50021, md5(seq), md5(seq + 5)
from seq_1_to_${turbine_events};
