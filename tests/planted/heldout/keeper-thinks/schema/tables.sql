create table aviary_birds (bird int primary key, grams int not null);
insert into aviary_birds select seq, 0 from seq_1_to_${birds};
