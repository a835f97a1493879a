-- In which districts does the next order not follow the last one, of all orders and of the new ones if there are any?
select d_w_id, d_id, d_next_o_id - 1 as last_o_id, max_o_id, max_no_o_id
from district
left join (
  select o_w_id, o_d_id, max(o_id) as max_o_id
  from orders
  group by o_w_id, o_d_id
) as placed on o_w_id = d_w_id and o_d_id = d_id
left join (
  select no_w_id, no_d_id, max(no_o_id) as max_no_o_id
  from new_order
  group by no_w_id, no_d_id
) as undelivered on no_w_id = d_w_id and no_d_id = d_id
where d_next_o_id - 1 <> coalesce(max_o_id, 0) or max_no_o_id <> max_o_id
order by d_w_id, d_id
limit 100
