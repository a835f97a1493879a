create table genes as select id, (id * 7919) % 1600009 as gene, (id * 13) % 3001 as cell from range(1, ${genes} + 1) as made (id);
