create table sales as
select n as id, n % 50 as shop, n % 365 as day, n % 997 as cents
from generate_series(1, ${sales}) as made (n);
