create table parking_stays as select id as stay, (id * 37) % ${plates} + 1 as plate, id % 900 as minutes, repeat('l', 40) as level_name from generate_series(1, ${stays}) as made (id);
alter table parking_stays add primary key (stay);
