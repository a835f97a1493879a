create table seats as
select n as id, n % 7 = 0 as taken
from generate_series(1, ${seats}) as made (n);
