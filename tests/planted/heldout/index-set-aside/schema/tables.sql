create table solar_yields (id int primary key, roof int not null, watt_hours int not null, key solar_yields_roof (roof));
insert into solar_yields select seq, (seq * 17) % ${roofs} + 1, seq % 9000 from seq_1_to_${yields};
