create table screws as select id, id % ${boxes} + 1 as box, id % 40 as millimetres from generate_series(1, ${screws}) as made (id);
