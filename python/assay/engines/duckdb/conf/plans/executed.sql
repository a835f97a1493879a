explain (analyze, format json)
