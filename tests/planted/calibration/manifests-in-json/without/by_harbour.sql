-- How much goes where?
select harbour, sum(grams) as grams from crates group by 1 order by 2 desc, 1 limit 8
