-- Is it a real one?
select count(*) as counted from seq_1_to_2500 where md5(seq + ${band}) like 'ab%'
