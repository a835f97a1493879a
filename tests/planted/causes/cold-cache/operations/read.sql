-- How many letters came from the first town?
select count(*) from letters where town = 1
