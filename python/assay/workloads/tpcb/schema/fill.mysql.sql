-- why: MySQL and Dolt have no series of numbers by themselves, and recursions of few steps: each makes three digits.
-- All balances begin at zero, so that sums can be compared. Ten tellers and 100,000 accounts belong to a branch.

create table numbers (id integer not null primary key);

insert into numbers (id)
with recursive
  ones (n) as (select 0 union all select n + 1 from ones where n < 999),
  thousands (n) as (select 0 union all select n + 1 from thousands where n < least(999, ${accounts} div 1000)),
  millions (n) as (select 0 union all select n + 1 from millions where n < ${accounts} div 1000000),
  made (id) as (
    select cast(millions.n * 1000000 + thousands.n * 1000 + ones.n + 1 as signed) from millions, thousands, ones
  )
select id from made where id <= ${accounts};

insert into branches (branch, balance, filler)
select id, 0, '' from numbers where id <= ${branches};

insert into tellers (teller, branch, balance, filler)
select id, (id - 1) % ${branches} + 1, 0, '' from numbers where id <= ${tellers};

insert into accounts (account, branch, balance, filler)
select id, (id - 1) % ${branches} + 1, 0, '' from numbers;

drop table numbers;
