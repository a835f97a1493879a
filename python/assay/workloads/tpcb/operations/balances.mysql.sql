-- why: MySQL and Dolt cast to signed, and have no cast to bigint.
-- By how much do the balances of tellers, of branches and the history differ from those of the accounts?
select
  (select cast(sum(balance) as signed) from tellers) - total as tellers,
  (select cast(sum(balance) as signed) from branches) - total as branches,
  (select cast(coalesce(sum(delta), 0) as signed) from history) - total as history
from (select cast(sum(balance) as signed) as total from accounts) as all_accounts
