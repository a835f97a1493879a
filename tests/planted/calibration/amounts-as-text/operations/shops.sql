-- Which shop lent most?
select shop, sum(cast(loan_text as decimal(12, 2))) as lent, max(cast(weight_text as decimal(12, 1))) as heaviest from pawned group by shop order by 2 desc, 1 limit 5
