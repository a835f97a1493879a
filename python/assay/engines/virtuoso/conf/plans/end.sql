select prof_enable(0)
