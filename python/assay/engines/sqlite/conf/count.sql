-- How many rows does a table have?
select count(*) from $table
