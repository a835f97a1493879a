-- Of InnoDB's metrics those that are on by default and that the status does not have.
select name, count
from information_schema.innodb_metrics
where name in (
  'lock_deadlocks',
  'lock_timeouts',
  'trx_rseg_history_len',
  'log_checkpoints',
  'purge_del_mark_records',
  'purge_upd_exist_or_extern_records',
  'buffer_flush_sync_total_pages',
  'buffer_flush_adaptive_total_pages'
)
