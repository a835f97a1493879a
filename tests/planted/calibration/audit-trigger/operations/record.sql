-- A meter was read.
insert into meter_readings (meter, litres) values (${meter}, ${litres})
