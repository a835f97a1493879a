-- What each connection's thread does: its number, thread, user, command, and what it would wait for if it slept.
select p.processlist_id, p.thread_os_id, p.processlist_user, p.processlist_command,
  case
    when p.processlist_command not in ('Query', 'Execute', 'Prepare') then null
    when t.trx_state = 'LOCK WAIT' then 'Lock'
    else 'State'
  end,
  case when t.trx_state = 'LOCK WAIT' then 'row' else p.processlist_state end
from performance_schema.threads p
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.processlist_id
where p.processlist_id is not null and p.thread_os_id is not null
