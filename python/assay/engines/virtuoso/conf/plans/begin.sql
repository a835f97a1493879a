-- Compiles what comes from now on so that it counts rows and time of each step.
select prof_enable(1)
