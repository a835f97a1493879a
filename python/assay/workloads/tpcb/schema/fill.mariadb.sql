-- why: MariaDB has no generate_series: a table named seq_1_to_N has the numbers to N.
-- All balances begin at zero, so that sums can be compared. Ten tellers and 100,000 accounts belong to a branch.

insert into branches (branch, balance, filler)
select seq, 0, '' from seq_1_to_${branches};

insert into tellers (teller, branch, balance, filler)
select seq, (seq - 1) % ${branches} + 1, 0, '' from seq_1_to_${tellers};

insert into accounts (account, branch, balance, filler)
select seq, (seq - 1) % ${branches} + 1, 0, '' from seq_1_to_${accounts};
