update gas_counters set cubic = cubic + 0, street = concat(street, '') where counter <= 40 and cubic >= 0;
select count(*) from gas_counters where counter <= 40 for update;
