-- Connections since the server was started.
select sys_stat ('st_cli_connects')
