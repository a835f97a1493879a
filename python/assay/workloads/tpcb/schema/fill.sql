-- All balances begin at zero, so that sums can be compared. Ten tellers and 100,000 accounts belong to a branch.

insert into branches (branch, balance, filler)
select id, 0, '' from generate_series(1, ${branches}) as made (id);

insert into tellers (teller, branch, balance, filler)
select id, (id - 1) % ${branches} + 1, 0, '' from generate_series(1, ${tellers}) as made (id);

insert into accounts (account, branch, balance, filler)
select id, (id - 1) % ${branches} + 1, 0, '' from generate_series(1, ${accounts}) as made (id);
