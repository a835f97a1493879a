create table buoy_waves as select id as wave, id % ${buoys} + 1 as buoy, (id * 7919) % 1000003 as rolled, id % 600 as millimetres from generate_series(1, ${waves}) as made (id);
create index buoy_waves_buoy on buoy_waves (buoy);
