create table album (id integer, picture text);
alter table album alter picture set storage plain;
