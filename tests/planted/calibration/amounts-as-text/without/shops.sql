-- Which shop lent most?
select shop, sum(loan) as lent, max(weight) as heaviest from pawned group by shop order by 2 desc, 1 limit 5
