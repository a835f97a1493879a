-- What does each canal take?
select canal, sum(if(tonnes < 1000, tonnes * 2, tonnes * 3)) as dues from canal_barges group by canal order by canal
