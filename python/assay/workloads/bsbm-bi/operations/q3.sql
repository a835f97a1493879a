-- For which products did reviews grow most from one month to the next?
-- name: query
select
  later.product,
  cast(later.reviews as double precision) / earlier.reviews as ratio
from (
  select product, count(*) as reviews
  from review
  where publishDate >= ${month_1} and publishDate < ${month_2}
  group by product
) later
join (
  select product, count(*) as reviews
  from review
  where publishDate >= ${month_0} and publishDate < ${month_1}
  group by product
) earlier on earlier.product = later.product
order by ratio desc, later.product
limit 10
