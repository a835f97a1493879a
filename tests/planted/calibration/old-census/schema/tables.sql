create table inhabitants (id integer primary key, district integer not null, street integer not null, born integer not null, note text not null);
insert into inhabitants
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${inhabitants})
select id, id % 3, (id * 7) % 3001, 1930 + id % 80, 'a note on somebody' from made;
create index inhabitants_district on inhabitants (district);
create index inhabitants_street on inhabitants (street);
