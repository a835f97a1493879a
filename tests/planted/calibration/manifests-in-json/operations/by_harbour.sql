-- How much goes where?
select manifest::json ->> 'harbour' as harbour, sum((manifest::json ->> 'grams')::int) as grams
from crates group by 1 order by 2 desc, 1 limit 8
