-- Of the whole server, since it was started.
select
  sys_stat('disk_reads') as disk_reads,
  sys_stat('disk_writess') as disk_writes,
  sys_stat('ra_pages') as read_ahead_pages,
  sys_stat('tc_read_aside') as read_aside,
  sys_stat('tc_read_wait') as page_read_waits,
  sys_stat('tc_write_wait') as page_write_waits,
  sys_stat('lock_enters') as lock_enters,
  sys_stat('lock_waits') as lock_waits,
  sys_stat('lock_deadlocks') as lock_deadlocks,
  sys_stat('tc_qp_thread') as forks,
  sys_stat('tc_adjust_batch_sz') as longer_vectors,
  sys_stat('tc_no_mem_for_longer_batch') as longer_vectors_refused,
  sys_stat('tc_part_hash_join') as partitioned_hash_joins,
  sys_stat('tc_slow_temp_insert') as slow_temp_inserts,
  sys_stat('mp_large_in_use') as query_memory_bytes,
  sys_stat('mp_max_large_in_use') as query_memory_max_bytes
