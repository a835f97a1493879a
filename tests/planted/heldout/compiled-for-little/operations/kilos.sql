-- How much did each orchard bear?
select orchard, count(*) as pickings, sum(kilos) as kilos, max(kilos) as most from orchard_pickings where kilos > 10 group by orchard order by orchard
