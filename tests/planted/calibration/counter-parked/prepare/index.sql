create index gas_counters_by_serial on gas_counters (serial);
