call dolt_gc()
