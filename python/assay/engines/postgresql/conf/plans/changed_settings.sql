-- Settings that choose among plans, where this session has another value than the server is built
-- with. Roles, databases and the connection's options have their say, as for timed sessions.
select name, current_setting(name), boot_val
from pg_settings
where (
        category like 'Query Tuning%'
        or name in (
            'hash_mem_multiplier', 'max_parallel_workers', 'max_parallel_workers_per_gather',
            'parallel_leader_participation', 'work_mem'
        )
    )
  and setting is distinct from boot_val
  and boot_val is not null
order by name
