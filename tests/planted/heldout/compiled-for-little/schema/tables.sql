create table orchard_pickings as select id as picking, id % 25 as orchard, (id * 13) % 400 as kilos from generate_series(1, ${pickings}) as made (id);
