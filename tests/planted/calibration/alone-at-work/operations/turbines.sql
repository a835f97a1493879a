-- Which gave most?
select turbine, sum(watts) as watts, count(*) as counted, max(watts) as most from turbine_readings group by turbine order by 2 desc, 1
