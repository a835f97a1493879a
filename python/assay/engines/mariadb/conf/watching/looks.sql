-- Sessions that execute a statement now, without this one: number, statement (of another database: none), thread, user,
-- database, what it would wait for if it slept, and for how long it has executed the statement.
select p.id, if(database() is null or p.db <=> database(), left(p.info, 1000), null), p.tid, p.user, p.db,
  if(t.trx_state = 'LOCK WAIT', 'Lock', 'State'), if(t.trx_state = 'LOCK WAIT', 'row', p.state), p.time_ms / 1000
from information_schema.processlist p
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = p.id
where p.command in ('Query', 'Execute') and p.info is not null and p.id <> connection_id()
