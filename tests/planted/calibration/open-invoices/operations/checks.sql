-- How many check digits are right?
select count(*) as counted from seq_1_to_3000 where md5(seq) like 'a%'
