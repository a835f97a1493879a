-- why: Doltgres takes a plain 0 beside a count for a text.
-- In which districts are not exactly 2,100 orders no new ones?
select d_w_id, d_id, orders_there, new_orders_there
from district
left join (
  select o_w_id, o_d_id, count(*) as orders_there
  from orders
  group by o_w_id, o_d_id
) as placed on o_w_id = d_w_id and o_d_id = d_id
left join (
  select no_w_id, no_d_id, count(*) as new_orders_there
  from new_order
  group by no_w_id, no_d_id
) as undelivered on no_w_id = d_w_id and no_d_id = d_id
where coalesce(orders_there, cast(0 as bigint)) - coalesce(new_orders_there, cast(0 as bigint)) <> 2100
order by d_w_id, d_id
limit 100
