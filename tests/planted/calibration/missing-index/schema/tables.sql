create table readers as
select n as id, md5(cast(n as text)) as card, repeat('x', 60) as address
from generate_series(1, ${readers}) as made (n);
