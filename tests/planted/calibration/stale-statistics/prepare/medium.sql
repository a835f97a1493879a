-- A day that the statistics know nothing of.
insert into orders
select 1000000 + n, n % 2000 + 1, 1000
from generate_series(1, 150) as made (n);
