-- The oldest transactions, whose snapshots keep old versions of rows, and upkeep of tables by sessions: session, work,
-- user, state, age of the transaction, transactions since its snapshot, table, statement.
(
  select t.trx_mysql_thread_id, 'snapshot', p.user, if(p.command = 'Sleep', 'idle in transaction', 'active'),
    timestampdiff(microsecond, t.trx_started, now(6)) / 1e6, null, null, t.trx_query
  from information_schema.innodb_trx t
  left join information_schema.processlist p on p.id = t.trx_mysql_thread_id
  where t.trx_started < now() - interval 1 second
  order by t.trx_started
  limit 3
)
union all
select p.id, lower(substring_index(ltrim(p.info), ' ', 1)), p.user, 'active', p.time_ms / 1e3, null, null, left(p.info, 200)
from information_schema.processlist p
where p.command = 'Query'
  and p.info regexp '^[[:space:]]*(optimize|alter|repair|check|analyze)[[:space:]]+((local|no_write_to_binlog|online)[[:space:]]+)?table|^[[:space:]]*create[[:space:]]+(unique[[:space:]]+)?index'
