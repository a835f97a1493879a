-- A reading was wrong.
update gas_counters set cubic = cubic + 1 where counter = ${counter}
