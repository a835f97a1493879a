create table pallets as select id, (id * 7919) % 2000003 as code, id % 40 as bay from range(1, ${pallets} + 1) as made (id);
