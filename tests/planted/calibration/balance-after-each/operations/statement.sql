-- Entries of five purses, with balances.
select e.purse, e.id, e.cents,
 (select sum(e2.cents) from purse_entries e2 where e2.purse = e.purse and e2.id <= e.id) as balance
from purse_entries e where e.purse between 10 and 14 order by e.purse, e.id
