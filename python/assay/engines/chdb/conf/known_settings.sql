select name from system.settings
union distinct
select name from system.server_settings
order by name
