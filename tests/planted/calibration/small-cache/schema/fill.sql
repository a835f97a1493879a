-- A row is so long that a block holds one.
insert into album
select n, repeat(md5(cast(n as text)), 140)
from generate_series(1, ${pages}) as made (n);
