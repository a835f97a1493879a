explain (generic_plan, verbose, settings, summary, format json)
