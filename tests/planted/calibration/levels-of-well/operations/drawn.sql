-- How did the level of a well change over eight years?
select day, millimetres from well_levels where well = ${well} and day between 400 and 3300 order by day
