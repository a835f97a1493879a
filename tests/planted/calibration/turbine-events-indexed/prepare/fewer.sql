alter table turbine_events drop key by_turbine, drop key by_code, drop key by_rpm, drop key by_volts, drop key by_pitch,
 drop key by_gusts, drop key by_serial, drop key by_operator, drop key by_all;
