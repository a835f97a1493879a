log_enable (2, 1)
