select set_config('statement_timeout', %s, true)
