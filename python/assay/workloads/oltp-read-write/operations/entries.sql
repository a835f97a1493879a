-- How many rows are missing or too many?
select count(*) - ${entries} as surplus, count(distinct id) - ${entries} as surplus_ids from sbtest1
