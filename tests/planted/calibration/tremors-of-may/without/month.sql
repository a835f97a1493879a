-- Which stations felt most in May?
select station, count(*) as felt, max(strength) as strongest
from tremors
where felt_at >= timestamp '2021-05-01' and felt_at < timestamp '2021-06-01'
group by station order by felt desc, station limit 10
