-- What did each shop sell on odd and even days?
select shop,
       sum(case when day % 2 = 0 then cents end) as even_days,
       sum(case when day % 2 = 1 then cents end) as odd_days,
       avg(cents * 1.19) as gross
from sales
where day between 20 and 340 and cents > 10
group by shop
