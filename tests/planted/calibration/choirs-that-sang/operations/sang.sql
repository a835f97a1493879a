-- Which choirs ever sang?
select distinct c.id, c.title, c.region
from choirs c join concerts k on k.choir = c.id
where k.hall < 40
order by c.id
