-- How often were the towns of each region visited?
select region, count(*) as towns, sum(visits) as visits, avg(visits) as visits_each
from towns
group by region
order by region
