select version()
