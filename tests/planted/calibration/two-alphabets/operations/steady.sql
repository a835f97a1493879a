-- Work that the cause leaves alone.
select count(*) as counted from seq_1_to_250000 where md5(seq) like 'ab%'
