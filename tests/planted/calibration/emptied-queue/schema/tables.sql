create table waiting as select id, id % ${lanes} + 1 as lane, repeat('w', 20) as what from generate_series(1, ${waiting}) as made (id);
create index waiting_lane on waiting (lane, id);
