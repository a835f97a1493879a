select id, id % 40 as turbine, (id * 7919) % 100003 as watts from range(1, ${turbine_readings} + 1) as made (id)
