-- How fast were turbines, by code?
select code % 10 as family, avg(rpm) as rpm, max(volts) as volts from turbine_events where id between ${first} and ${first} + 6000 group by 1 order by 1
