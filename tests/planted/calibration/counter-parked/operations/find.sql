-- Which counter has this number?
select counter, cubic, street from gas_counters where serial = ${serial}
