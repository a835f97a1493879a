-- Eight rows in one transaction.
begin;
insert into readings_in (station, degrees) values (${station}, 0);
insert into readings_in (station, degrees) values (${station}, 1);
insert into readings_in (station, degrees) values (${station}, 2);
insert into readings_in (station, degrees) values (${station}, 3);
insert into readings_in (station, degrees) values (${station}, 4);
insert into readings_in (station, degrees) values (${station}, 5);
insert into readings_in (station, degrees) values (${station}, 6);
insert into readings_in (station, degrees) values (${station}, 7);
commit;
