-- What did both see?
select n.bright, count(*) as counted, max(s.bright) as other from comets_north n join comets_south s on n.seen = s.seen group by n.bright order by counted desc, n.bright limit 4
