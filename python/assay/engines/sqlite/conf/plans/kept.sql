-- How many rows does a table have, and how many of them fulfil a condition?
select count(*), count(*) filter (where $condition) from $table
