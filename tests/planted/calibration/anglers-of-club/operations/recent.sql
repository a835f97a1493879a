-- What did lakes give lately?
select lake, count(*) as fish, sum(grams) as grams from catches where id > 35000 + ${club} group by lake order by lake
