create table destinations (town varchar(40) character set latin1 not null, district int not null, key destinations_town (town));
create table deliveries (delivery_no int primary key, town varchar(40) character set utf8mb4 not null, weight int not null);
insert into destinations select concat('town ', seq), seq % 12 from seq_1_to_${towns};
insert into deliveries select seq, concat('town ', seq * 3 % ${towns} + 1), seq % 31 from seq_1_to_${deliveries};
