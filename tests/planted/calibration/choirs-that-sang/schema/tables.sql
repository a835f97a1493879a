create table choirs as select n as id, 'choir of ' || md5(n::text) as title, n % 60 as region from generate_series(1, ${choirs}) as made (n);
alter table choirs add primary key (id);
create table concerts as select n as id, n * 17 % ${choirs} + 1 as choir, n % 50 as hall, n % 9000 as takings from generate_series(1, ${concerts}) as made (n);
alter table concerts add primary key (id);
create index concerts_choir on concerts (choir, hall);
