create table recipes (id int primary key, published int not null, title varchar(60) not null, cook int not null, method varchar(300) not null, key recipes_published (published));
insert into recipes select seq, (seq * 7919) % 1000003, concat('recipe ', seq), seq % 800, repeat('m', 200) from seq_1_to_${recipes};
