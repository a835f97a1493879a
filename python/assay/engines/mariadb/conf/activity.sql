-- What each connection's thread does: its number, thread, user, command, and what it would wait for if it slept.
select p.id, p.tid, p.user, p.command,
  case when p.command not in ('Query', 'Execute', 'Prepare') then null when t.trx_state = 'LOCK WAIT' then 'Lock' else 'State' end,
  case when t.trx_state = 'LOCK WAIT' then 'row' else p.state end
from information_schema.processlist p
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.id
