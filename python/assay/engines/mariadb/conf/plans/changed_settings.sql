-- Settings of the optimiser and executor that are away from what the server is built with.
select lower(variable_name), session_value, default_value
from information_schema.system_variables
where (
    variable_name like 'OPTIMIZER%' or variable_name in ('EQ_RANGE_INDEX_DIVE_LIMIT', 'EXPENSIVE_SUBQUERY_LIMIT',
      'IN_PREDICATE_CONVERSION_THRESHOLD', 'JOIN_BUFFER_SIZE', 'JOIN_BUFFER_SPACE_LIMIT', 'JOIN_CACHE_LEVEL',
      'MAX_SEEKS_FOR_KEY', 'SORT_BUFFER_SIZE', 'TMP_MEMORY_TABLE_SIZE', 'USE_STAT_TABLES')
  )
  and variable_name not in ('OPTIMIZER_TRACE', 'OPTIMIZER_TRACE_MAX_MEM_SIZE')
  and session_value is not null and default_value is not null and session_value <> default_value
order by variable_name
