-- How loud are they?
select pitch, avg(volume) as volume, count(*) as counted, max(sqrt(volume)) as root from sounds group by pitch order by 2 desc, 1 limit 7
