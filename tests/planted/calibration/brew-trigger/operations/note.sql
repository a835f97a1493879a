-- A temperature is noted.
insert into brew_temperatures (tank, tenths) values (${tank}, ${tenths})
