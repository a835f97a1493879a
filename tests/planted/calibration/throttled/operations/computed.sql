-- Work for a CPU.
select count(*)
from (select generate_series(1, ${steady}) as n) as numbers
where md5(cast(n as text)) like 'ab%'
