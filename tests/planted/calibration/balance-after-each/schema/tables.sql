create table purse_entries (id int primary key, purse int not null, cents int not null, remark varchar(40) not null, key purse_entries_purse (purse, id, cents));
insert into purse_entries select seq, seq % 100, cast(seq * 31 % 977 as signed) - 400, 'entry' from seq_1_to_${purse_entries};
