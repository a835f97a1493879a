-- What was the mean level of some days?
select count(*) as levels, avg(millimetres) as mean from well_levels where day between ${well} and ${well} + 250
