-- How many visits did a town have, and is it in this region?
select visits, case when region = '${region}' then 1 else 0 end as is_there
from towns
where town = ${town}
