create table wine_casks (cask int primary key, cellar_code varchar(20) not null, litres int not null, key wine_casks_code (cellar_code));
insert into wine_casks select seq, concat(lpad((seq * 17) % 2000 + 1, 4, '0'), '-', seq), seq % 300 from seq_1_to_${casks};
