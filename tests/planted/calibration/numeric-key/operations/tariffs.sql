-- Which tariffs do the first have?
select tariff, count(*) from contracts where contract_no <= 6000 group by tariff
