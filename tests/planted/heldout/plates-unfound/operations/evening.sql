-- How full was a part of the evening?
select count(distinct minutes) as counted, max(level_name) as last from parking_stays where stay between ${first} and ${first} + 1500
