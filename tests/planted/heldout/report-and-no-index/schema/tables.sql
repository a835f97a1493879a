create table ski_hires as select id as hire, (id * 41) % ${guests} + 1 as guest, id % 14 as nights from generate_series(1, ${hires}) as made (id);
