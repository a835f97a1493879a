-- Who carries most?
select a.carrier, count(*) as crates, sum(a.id % 11 * length(md5(b.id::text || b.carrier))) as fees
from crates a join crates b on b.id = a.id group by a.carrier order by 2 desc, 1
