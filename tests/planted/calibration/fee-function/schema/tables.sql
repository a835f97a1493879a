create table transfers (transfer_no int primary key, cents int not null, country int not null);
insert into transfers select seq, seq % 9000, seq % 4 from seq_1_to_${transfers};
create function fee (cents int, country int) returns decimal(12, 4) deterministic no sql
return case country when 0 then 0 when 1 then cents * 0.01 else 10 + cents * 0.02 end;
