-- Entries of five purses, with balances.
select e.purse, e.id, e.cents, sum(e.cents) over (partition by e.purse order by e.id) as balance
from purse_entries e where e.purse between 10 and 14 order by e.purse, e.id
