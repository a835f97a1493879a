create table clinic_visits as select id, id % 50 as ward, id % 7 as weekday, id % 240 as minutes from generate_series(1, ${visits}) as made (id);
