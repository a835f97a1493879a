set session max_execution_time = {milliseconds}
