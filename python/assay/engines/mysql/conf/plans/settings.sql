-- Settings of the optimiser and executor, as this session has them.
select lower(variable_name), variable_value
from performance_schema.session_variables
where variable_name in (
  'eq_range_index_dive_limit', 'join_buffer_size', 'max_heap_table_size', 'max_seeks_for_key', 'optimizer_prune_level',
  'optimizer_search_depth', 'optimizer_switch', 'range_optimizer_max_mem_size', 'read_rnd_buffer_size', 'sort_buffer_size',
  'tmp_table_size'
)
