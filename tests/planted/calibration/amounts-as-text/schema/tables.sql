create table pawned as
select id, (id % 50) as shop, ((id * 7919) % 100003 / 100.0)::decimal(12, 2)::varchar as loan_text, ((id * 31) % 9001 / 10.0)::decimal(12, 1)::varchar as weight_text, ((id * 7919) % 100003 / 100.0)::decimal(12, 2) as loan, ((id * 31) % 9001 / 10.0)::decimal(12, 1) as weight
from range(1, ${pawned} + 1) as made (id);
