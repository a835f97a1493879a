-- Which stations felt most in May?
select station, count(*) as felt, max(strength) as strongest
from tremors
where date_trunc('month', felt_at) = timestamp '2021-05-01'
group by station order by felt desc, station limit 10
