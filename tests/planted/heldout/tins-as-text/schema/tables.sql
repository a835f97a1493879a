create table paint_tins as select id as tin_no, id % 70 as shade, (id * 13) % 500 as millilitres from generate_series(1, ${tins}) as made (id);
create unique index paint_tins_number on paint_tins (tin_no);
