-- What does each canal take?
select canal, sum(lock_dues(tonnes)) as dues from canal_barges group by canal order by canal
