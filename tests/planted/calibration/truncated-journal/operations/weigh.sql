-- Three hives beside each other.
begin immediate;
update hive_weights set grams = grams + 1, times = times + 1 where hive = ${hive};
update hive_weights set grams = grams + 2, times = times + 1 where hive = ${hive} + 300;
update hive_weights set grams = grams - 1, times = times + 1 where hive = ${hive} + 600;
commit;
