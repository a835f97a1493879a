select dolt_version()
