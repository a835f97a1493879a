-- What was done for the animals of one keeper?
select id, drug, cents from pet_treatments where keeper = ${keeper} and cents > 100 order by id
