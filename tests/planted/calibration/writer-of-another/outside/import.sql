insert into imported (note) values ('a row from elsewhere');
