insert into letters
select n, repeat(md5(cast(n as text)), 8)
from generate_series(1, ${letters}) as made (n);

insert into links
select cast(cast(n as bigint) * 104729 % ${letters} + 1 as integer)
from generate_series(1, ${links}) as made (n);
