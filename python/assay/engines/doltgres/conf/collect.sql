select dolt_gc()
