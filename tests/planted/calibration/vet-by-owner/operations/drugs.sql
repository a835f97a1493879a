-- Which drugs cost most?
select drug, sum(cents) as cents from pet_treatments where id <= 6000 group by drug order by cents desc, drug limit 5
