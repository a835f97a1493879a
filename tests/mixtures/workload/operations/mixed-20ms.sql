cpu_ms=60 reads=900 sleep_ms=30 slices=8
