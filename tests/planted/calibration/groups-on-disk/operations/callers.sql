-- Who called most?
select caller, cell, count(*) as often, sum(seconds) as seconds from phone_calls group by caller, cell order by often desc, seconds desc, caller limit 3
