-- why: MySQL has no generate_series: a query that asks itself counts, as far as its session lets it.
-- All balances begin at zero, so that sums can be compared. Ten tellers and 100,000 accounts belong to a branch.

set session cte_max_recursion_depth = 4294967295;

insert into branches (branch, balance, filler)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${branches})
select id, 0, '' from made;

insert into tellers (teller, branch, balance, filler)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${tellers})
select id, (id - 1) % ${branches} + 1, 0, '' from made;

insert into accounts (account, branch, balance, filler)
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${accounts})
select id, (id - 1) % ${branches} + 1, 0, '' from made;
