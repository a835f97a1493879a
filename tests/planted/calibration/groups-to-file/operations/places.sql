-- Where and when were most taken?
select station, taken, count(*) as counted, max(id) as latest from probes group by station, taken order by counted desc, latest desc limit 3
