-- By how much do the balances of tellers, of branches and the history differ from those of the accounts?
select
  (select cast(sum(balance) as bigint) from tellers) - total as tellers,
  (select cast(sum(balance) as bigint) from branches) - total as branches,
  (select cast(coalesce(sum(delta), 0) as bigint) from history) - total as history
from (select cast(sum(balance) as bigint) as total from accounts) as all_accounts
