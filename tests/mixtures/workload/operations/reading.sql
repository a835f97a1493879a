cpu_ms=8 reads=2000 slices=50
