-- Which streets use most?
select street, sum(cubic) as cubic from gas_counters where counter between 100 and 5000 group by street order by cubic desc limit 3
