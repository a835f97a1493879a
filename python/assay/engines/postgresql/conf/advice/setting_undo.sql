alter system reset $setting;
select pg_reload_conf();
