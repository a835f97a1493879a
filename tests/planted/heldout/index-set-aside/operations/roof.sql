-- What did this roof yield?
select count(*) as days, sum(watt_hours) as watt_hours from solar_yields where roof = ${roof}
