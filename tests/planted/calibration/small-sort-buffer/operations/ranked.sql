-- The one in the middle.
select id, taken, station from probes order by taken, station, id limit 150000, 1
