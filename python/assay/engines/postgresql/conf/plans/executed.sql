explain (analyze, buffers, verbose, settings, wal, format json)
