set session max_statement_time = {seconds}
