-- What did house 102 measure last?
select logged_at, tenths, humidity from climate_logs where house = 102 order by logged_at desc limit 5
