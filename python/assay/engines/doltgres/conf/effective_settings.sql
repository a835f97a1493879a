-- Most settings of PostgreSQL are there by name and mean nothing here.
select 'transaction_isolation', current_setting('transaction_isolation')
union all
select 'dolt_transaction_commit', current_setting('dolt_transaction_commit')
union all
select 'dolt_stats_enabled', current_setting('dolt_stats_enabled')
order by 1
