explain (format json)
