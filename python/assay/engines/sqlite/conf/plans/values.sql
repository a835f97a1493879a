-- How many different values has a column?
select count(distinct $column) from $table
