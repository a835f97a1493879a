create table letters as
select n as id, n % 100 as town, repeat(md5(cast(n as text)), 8) as words
from generate_series(1, ${letters}) as made (n);
