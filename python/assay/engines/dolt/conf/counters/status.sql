show global status
where variable_name in ('Com_delete', 'Com_insert', 'Com_select', 'Com_update', 'Questions', 'Slow_queries',
                        'Threads_connected', 'Threads_running')
