-- How many pages come after each of the first ten?
select sum(pages)
from generate_series(1, 10) as beginnings (first)
cross join lateral (select count(*) as pages from album where id > first) as rest
