-- What is all of it worth?
select count(*) as counted, sum(estimate) as estimate from lots where lot_no <= 12000
