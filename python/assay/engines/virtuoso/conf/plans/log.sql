-- Statements that were executed since. The view takes its file and a time as arguments; no other condition and no order
-- is to be there: texts of a sorted or filtered result cannot be read.
select
  ql_id, ql_text, ql_plan, ql_sqlstate, ql_error, ql_rt_msec, ql_rt_clocks, ql_thread_clocks, ql_disk_wait_clocks,
  ql_pg_wait_clocks, ql_c_msec, ql_c_clocks, ql_rnd_rows, ql_seq_rows, ql_same_seg, ql_same_page, ql_same_parent,
  ql_disk_reads, ql_spec_disk_reads, ql_messages, ql_message_bytes, ql_qp_threads, ql_lock_waits, ql_lock_wait_msec,
  ql_memory, ql_memory_max
from sys_query_log
where qrl_file = cast(? as varchar)
  and qrl_start_dt = stringdate(?)
