explain (verbose, settings, summary, format json)
