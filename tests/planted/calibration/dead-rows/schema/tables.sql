create table bills as
select n as id, n % 1000 as cents, repeat('x', 80) as note
from generate_series(1, ${bills}) as made (n);
