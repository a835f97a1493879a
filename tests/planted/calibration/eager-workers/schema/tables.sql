create table tickets as select id, id % ${counters} + 1 as counter, id % 77 as cents from generate_series(1, ${tickets}) as made (id);
