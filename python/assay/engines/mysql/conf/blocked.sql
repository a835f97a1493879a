-- Sessions that wait for a lock, each with one that holds it: who waits, who holds, the holder's user, state, age of its
-- transaction and last statement, the table, the lock, and the statement that waits. First locks of rows, then those
-- that statements have on tables while they or their transactions last. A thread of the server itself, and one that has
-- ended since, has no session.
select w.processlist_id, b.processlist_id, b.processlist_user,
  if(b.processlist_command = 'Sleep', 'idle in transaction', 'active'),
  timestampdiff(microsecond, t.trx_started, now(6)) / 1e6,
  s.sql_text, concat(l.object_schema, '.', l.object_name), if(l.lock_type = 'RECORD', 'row', l.lock_mode), w.processlist_info
from performance_schema.data_lock_waits x
join performance_schema.data_locks l on l.engine_lock_id = x.requesting_engine_lock_id
join performance_schema.threads w on w.thread_id = x.requesting_thread_id
join performance_schema.threads b on b.thread_id = x.blocking_thread_id
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = b.processlist_id
left join performance_schema.events_statements_current s on s.thread_id = b.thread_id and s.nesting_event_level = 0
where w.processlist_id is not null and b.processlist_id is not null
union all
select w.processlist_id, b.processlist_id, b.processlist_user,
  if(b.processlist_command = 'Sleep', 'idle in transaction', 'active'),
  coalesce(timestampdiff(microsecond, t.trx_started, now(6)) / 1e6, if(b.processlist_command = 'Sleep', b.processlist_time, null)),
  s.sql_text, concat(p.object_schema, '.', p.object_name), p.lock_type, w.processlist_info
from performance_schema.metadata_locks p
join performance_schema.metadata_locks g
  on g.object_type = p.object_type and g.object_schema <=> p.object_schema and g.object_name <=> p.object_name
  and g.lock_status = 'GRANTED' and g.owner_thread_id <> p.owner_thread_id
join performance_schema.threads w on w.thread_id = p.owner_thread_id
join performance_schema.threads b on b.thread_id = g.owner_thread_id
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = b.processlist_id
left join performance_schema.events_statements_current s on s.thread_id = b.thread_id and s.nesting_event_level = 0
where p.lock_status = 'PENDING' and p.object_type = 'TABLE' and b.processlist_id is not null
  and g.lock_type not in ('SHARED_READ', 'SHARED_WRITE', 'SHARED_UPGRADABLE', 'SHARED', 'SHARED_HIGH_PRIO')
union all
select w.processlist_id, b.processlist_id, b.processlist_user,
  if(b.processlist_command = 'Sleep', 'idle in transaction', 'active'),
  timestampdiff(microsecond, t.trx_started, now(6)) / 1e6,
  s.sql_text, concat(p.object_schema, '.', p.object_name), p.lock_type, w.processlist_info
from performance_schema.metadata_locks p
join performance_schema.metadata_locks g
  on g.object_type = p.object_type and g.object_schema <=> p.object_schema and g.object_name <=> p.object_name
  and g.lock_status = 'GRANTED' and g.owner_thread_id <> p.owner_thread_id
join performance_schema.threads w on w.thread_id = p.owner_thread_id
join performance_schema.threads b on b.thread_id = g.owner_thread_id
left join information_schema.innodb_trx t on t.trx_mysql_thread_id = b.processlist_id
left join performance_schema.events_statements_current s on s.thread_id = b.thread_id and s.nesting_event_level = 0
where p.lock_status = 'PENDING' and p.lock_type in ('EXCLUSIVE', 'SHARED_NO_READ_WRITE', 'SHARED_NO_WRITE')
  and p.object_type = 'TABLE' and b.processlist_id is not null
  and g.lock_type in ('SHARED_READ', 'SHARED_WRITE', 'SHARED_UPGRADABLE', 'SHARED', 'SHARED_HIGH_PRIO')
