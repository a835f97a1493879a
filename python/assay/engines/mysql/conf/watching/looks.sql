-- Sessions that execute a statement now, without this one: number, statement (of another database: none), thread, user,
-- database, what it would wait for if it slept, and for how long it has executed the statement.
select p.processlist_id, if(database() is null or p.processlist_db <=> database(), left(p.processlist_info, 1000), null),
  p.thread_os_id, p.processlist_user, p.processlist_db,
  if(t.trx_state = 'LOCK WAIT', 'Lock', 'State'), if(t.trx_state = 'LOCK WAIT', 'row', p.processlist_state), p.processlist_time
from performance_schema.threads p
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.processlist_id
where p.processlist_command in ('Query', 'Execute') and p.processlist_info is not null and p.processlist_id <> connection_id()
