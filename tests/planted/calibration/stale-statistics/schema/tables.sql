create table shops as
select n as id, 'shop ' || n as name
from generate_series(1, ${shops}) as made (n);

create table orders as
select n as id, n % ${shops} + 1 as shop, n % 30 as day
from generate_series(1, ${orders}) as made (n);
