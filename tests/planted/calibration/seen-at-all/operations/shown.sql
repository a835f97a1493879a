-- Who saw most among some sightings?
select observer, count(*) as sightings from moth_sightings where id between ${sighting} and ${sighting} + 3000 group by observer order by 2 desc, 1 limit 3
