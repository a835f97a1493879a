-- Sessions that wait for a lock of a row, each with one that holds it: who waits, who holds, the holder's user, state,
-- age of its transaction and statement, the table, the lock, and the statement that waits.
select w.trx_mysql_thread_id, b.trx_mysql_thread_id, p.user,
  if(p.command = 'Sleep', 'idle in transaction', 'active'),
  timestampdiff(microsecond, b.trx_started, now(6)) / 1e6,
  b.trx_query, replace(l.lock_table, '`', ''), if(l.lock_type = 'RECORD', 'row', l.lock_mode), w.trx_query
from information_schema.innodb_lock_waits x
join information_schema.innodb_trx w on w.trx_id = x.requesting_trx_id
join information_schema.innodb_trx b on b.trx_id = x.blocking_trx_id
join information_schema.innodb_locks l on l.lock_id = x.requested_lock_id
left join information_schema.processlist p on p.id = b.trx_mysql_thread_id
