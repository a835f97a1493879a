cpu_ms=140 slices=50
