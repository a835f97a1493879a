analyze;
update sqlite_stat1 set stat = '2000 1' where idx = 'inhabitants_district';
update sqlite_stat1 set stat = '2000 400' where idx = 'inhabitants_street';
