create table optician_lenses as select id as lens, id % 40 as dioptres, repeat('c', 30) as coating from generate_series(1, ${lenses}) as made (id);
alter table optician_lenses add primary key (lens);
