-- Sessions that wait for a lock, each with one that holds it: who waits, who holds, the holder's user, state,
-- age of its transaction and statement, the table, the lock, and the statement that waits. First locks of rows, then
-- those on tables, which only Performance Schema tells. Transactions of the server itself have the session 0.
select w.trx_mysql_thread_id, b.trx_mysql_thread_id, p.user,
  if(p.command = 'Sleep', 'idle in transaction', 'active'),
  timestampdiff(microsecond, b.trx_started, now(6)) / 1e6,
  b.trx_query, replace(l.lock_table, '`', ''), if(l.lock_type = 'RECORD', 'row', l.lock_mode), w.trx_query
from information_schema.innodb_lock_waits x
join information_schema.innodb_trx w on w.trx_id = x.requesting_trx_id
join information_schema.innodb_trx b on b.trx_id = x.blocking_trx_id
join information_schema.innodb_locks l on l.lock_id = x.requested_lock_id
left join information_schema.processlist p on p.id = b.trx_mysql_thread_id
where w.trx_mysql_thread_id <> 0 and b.trx_mysql_thread_id <> 0
union all
select w.processlist_id, b.processlist_id, b.processlist_user,
  if(b.processlist_command = 'Sleep', 'idle in transaction', 'active'),
  coalesce(timestampdiff(microsecond, t.trx_started, now(6)) / 1e6, if(b.processlist_command = 'Sleep', b.processlist_time, null)),
  b.processlist_info, concat(p.object_schema, '.', p.object_name), p.lock_type, w.processlist_info
from performance_schema.metadata_locks p
join performance_schema.metadata_locks g
  on g.object_type = p.object_type and g.object_schema <=> p.object_schema and g.object_name <=> p.object_name
  and g.lock_status = 'GRANTED' and g.owner_thread_id <> p.owner_thread_id
join performance_schema.threads w on w.thread_id = p.owner_thread_id
join performance_schema.threads b on b.thread_id = g.owner_thread_id
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = b.processlist_id
where p.lock_status = 'PENDING' and p.object_type = 'TABLE' and b.processlist_id is not null
  and (
    g.lock_type not in ('SHARED_READ', 'SHARED_WRITE', 'SHARED_UPGRADABLE', 'SHARED', 'SHARED_HIGH_PRIO')
    or p.lock_type in ('EXCLUSIVE', 'SHARED_NO_READ_WRITE', 'SHARED_NO_WRITE')
  )
