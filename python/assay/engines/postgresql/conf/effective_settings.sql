-- Whether compiling to machine code is possible at all: some builds say `jit = on` and cannot.
select 'jit_available', pg_jit_available()::text
union all
-- Settings that differ from the product's defaults, and those that decide performance whatever they are.
select name, current_setting(name, true)
from pg_settings
where source not in ('client', 'default', 'override', 'session')
   or name in (
        'autovacuum', 'autovacuum_naptime', 'autovacuum_vacuum_cost_delay',
        'autovacuum_vacuum_cost_limit', 'vacuum_cost_delay', 'vacuum_cost_limit', 'bgwriter_delay', 'checkpoint_completion_target', 'checkpoint_timeout',
        'commit_delay', 'log_statement', 'log_min_duration_statement', 'log_duration', 'cpu_index_tuple_cost', 'cpu_operator_cost', 'cpu_tuple_cost',
        'data_checksums', 'deadlock_timeout', 'default_statistics_target', 'effective_cache_size',
        'effective_io_concurrency', 'fsync', 'full_page_writes', 'hash_mem_multiplier',
        'huge_pages', 'huge_pages_status', 'io_method', 'io_workers', 'jit', 'jit_above_cost',
        'maintenance_work_mem', 'max_connections', 'max_parallel_maintenance_workers',
        'max_parallel_workers', 'max_parallel_workers_per_gather', 'max_wal_size',
        'max_worker_processes', 'min_wal_size', 'plan_cache_mode', 'random_page_cost',
        'seq_page_cost', 'server_version', 'shared_buffers', 'shared_preload_libraries',
        'synchronous_commit', 'temp_buffers', 'track_io_timing', 'wal_buffers',
        'wal_compression', 'wal_level', 'wal_sync_method', 'work_mem'
      )
order by 1
