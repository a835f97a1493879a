create table pages as
select n as id, repeat(md5(cast(n as text)), 6) as words
from generate_series(1, ${pages}) as made (n);

create table links as
select cast(cast(n as bigint) * 7919 % ${pages} + 1 as integer) as page
from generate_series(1, ${pages}) as made (n);
