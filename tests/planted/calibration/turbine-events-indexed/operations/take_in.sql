-- A batch of events.
insert into turbine_events (turbine, code, rpm, volts, pitch, gusts, serial, operator)
select (seq + ${start}) * 7919 % 9001, seq * 31 % 499, (seq + ${start}) * 104729 % 30011, (seq + ${start}) * 611953 % 65537, seq * 17 % 3607,
 (seq + ${start}) * 15485863 % 50021, md5(seq + ${start}), md5(seq * 3 + ${start})
from seq_1_to_300
