-- Who rates the products of a producer half as high again as they are rated on average?
-- name: query
with rated as (
  select r.person, r.rating1, r.rating2, r.rating3, r.rating4
  from product p
  join review r on r.product = p.nr
  where p.producer = ${producer}
),
scores as (
  select person, rating1 as score from rated where rating1 is not null
  union all
  select person, rating2 from rated where rating2 is not null
  union all
  select person, rating3 from rated where rating3 is not null
  union all
  select person, rating4 from rated where rating4 is not null
)
select person as reviewer, cast(avg(score) as double precision) as reviewerAvgScore
from scores
group by person
having avg(score) > 1.5 * (select avg(score) from scores)
