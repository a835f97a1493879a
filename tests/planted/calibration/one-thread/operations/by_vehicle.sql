-- Which vehicles went furthest?
select vehicle, sum(metres) as metres, max(second) as latest, avg(metres * second) as product
from trips group by vehicle order by 2 desc, 1 limit 10
