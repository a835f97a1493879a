-- why: SQLite has no series of numbers by itself: they come from a recursion.
-- All balances begin at zero, so that sums can be compared. Ten tellers and 100,000 accounts belong to a branch.

insert into branches (branch, balance, filler)
with recursive made (id) as (
  select 1
  union all
  select id + 1 from made where id < ${branches}
)
select id, 0, ''
from made;

insert into tellers (teller, branch, balance, filler)
with recursive made (id) as (
  select 1
  union all
  select id + 1 from made where id < ${tellers}
)
select id, (id - 1) % ${branches} + 1, 0, ''
from made;

insert into accounts (account, branch, balance, filler)
with recursive made (id) as (
  select 1
  union all
  select id + 1 from made where id < ${accounts}
)
select id, (id - 1) % ${branches} + 1, 0, ''
from made;
