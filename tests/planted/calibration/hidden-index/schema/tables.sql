create table lots (lot_no int primary key, auction int not null, estimate int not null, about varchar(80) not null, key lots_auction (auction));
set session cte_max_recursion_depth = 10000000;
insert into lots
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${lots})
select id, (id * 17) % ${auctions} + 1, id % 700, repeat('l', 60) from made;
