create index buoy_waves_rolled on buoy_waves (buoy, rolled);
