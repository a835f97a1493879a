-- What differs from the product's defaults, and what is asked for most: there are two thousand others.
select name, value
from system.settings
where (changed or name in (
    'max_threads', 'max_memory_usage', 'max_block_size', 'join_algorithm', 'max_bytes_before_external_group_by',
    'max_bytes_before_external_sort', 'use_uncompressed_cache', 'use_query_cache', 'use_statistics',
    'compile_expressions', 'compile_aggregate_expressions', 'min_bytes_to_use_direct_io'
  ))
  and name not in ('log_comment', 'database')
union all
select name, value
from system.server_settings
where (changed or name in ('max_server_memory_usage', 'mark_cache_size', 'uncompressed_cache_size', 'background_pool_size'))
  and name not in ('path')
order by name
