create table trades as
select id as trade_no, case when id % 100000 = 0 then 64 else id % 8 end as flags, id % 365 as day
from generate_series(1, ${trades}) as made (id);
create table legs as
select id as leg_no, id % ${trades} + 1 as trade_no, id % 1000 as volume
from generate_series(1, ${legs}) as made (id);
alter table trades add primary key (trade_no);
create index legs_trade on legs (trade_no);
create index trades_flags on trades ((flags & 64)) where flags > 63;
