create table freights as select id, id % 4000 as grams, repeat('f', 300) as note from generate_series(1, ${freights}) as made (id);
alter table freights add primary key (id);
