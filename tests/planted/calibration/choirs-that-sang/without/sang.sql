-- Which choirs ever sang?
select c.id, c.title, c.region
from choirs c
where exists (select 1 from concerts k where k.choir = c.id and k.hall < 40)
order by c.id
