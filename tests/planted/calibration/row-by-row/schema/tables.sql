create table readings_in (id bigint auto_increment primary key, station int not null, degrees int not null);
