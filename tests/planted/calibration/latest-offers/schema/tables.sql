create table tender_offers (offer int primary key, region int not null, handed_in int not null, bidder int not null, about varchar(120) not null, key tender_offers_region (region));
set session cte_max_recursion_depth = 10000000;
insert into tender_offers
with recursive made (id) as (select 1 union all select id + 1 from made where id < ${tender_offers})
select id, id % ${regions}, (id * 7919) % 1000003, id % 733, repeat('o', 80) from made;
