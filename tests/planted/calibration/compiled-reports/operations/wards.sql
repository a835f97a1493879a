-- How long do they take?
select ward, avg(minutes) as minutes, sum(case when weekday > 4 then minutes * 2 else minutes end) as weighted, count(*) filter (where minutes > 200) as longest
from clinic_visits where weekday <> 3 group by ward having avg(minutes) > 10 order by 2 desc, 1
