create table visits as
select n as id, n % 100 as town, n % 997 as minutes
from generate_series(1, ${visits}) as made (n);
