create table sounds as select id, (id * 7919) % 500 as pitch, (id * 31) % 9001 as volume from range(1, ${sounds} + 1) as made (id);
