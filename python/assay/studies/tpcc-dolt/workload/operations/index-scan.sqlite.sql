-- why: SQLite joins texts by an operator.
-- What do those of a district owe whose last names begin alike? A range of the index, and the row of each entry.
select count(*) as customers, sum(c_balance) as balance
from customer
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_last >= ${syllable} and c_last < ${syllable} || 'Z'
