create table depots (depot_no integer primary key, manager varchar(30) not null, docks integer not null);
create table goods_returned (return_no integer primary key, depot integer not null, kilos integer not null);
insert into depots select seq, concat('manager ', seq), seq % 12 from seq_1_to_200;
insert into goods_returned select seq, (seq * 7919) % 200 + 1, seq % 77 from seq_1_to_200000;
analyze table depots, goods_returned;
