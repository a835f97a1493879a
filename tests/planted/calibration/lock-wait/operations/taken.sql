-- How many seats are taken?
select count(*) from seats where taken
