-- The oldest transactions, whose snapshots keep old versions of rows, and upkeep of tables by sessions: session, work,
-- user, state, age of the transaction, transactions since its snapshot, table, statement.
(
  select t.trx_mysql_thread_id, 'snapshot', p.processlist_user, if(p.processlist_command = 'Sleep', 'idle in transaction', 'active'),
    timestampdiff(microsecond, t.trx_started, now(6)) / 1e6, null, null, left(s.sql_text, 200)
  from information_schema.innodb_trx t
  left join performance_schema.threads p on p.processlist_id = t.trx_mysql_thread_id
  left join performance_schema.events_statements_current s on s.thread_id = p.thread_id and s.nesting_event_level = 0
  where t.trx_started < now() - interval 1 second
  order by t.trx_started
  limit 3
)
union all
select p.processlist_id, lower(substring_index(ltrim(p.processlist_info), ' ', 1)), p.processlist_user, 'active', p.processlist_time,
  null, null, left(p.processlist_info, 200)
from performance_schema.threads p
where p.processlist_command = 'Query'
  and p.processlist_info regexp '^[[:space:]]*(optimize|alter|repair|check|analyze)[[:space:]]+((local|no_write_to_binlog)[[:space:]]+)?table|^[[:space:]]*create[[:space:]]+(unique[[:space:]]+)?index'
