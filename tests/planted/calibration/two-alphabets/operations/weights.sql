-- What goes where?
select count(*) as counted, sum(v.weight) as weight
from deliveries v straight_join destinations d on d.town = v.town
where v.weight < 4
