-- In which districts do numbers between the first and the last new order belong to none?
select no_w_id, no_d_id, max(no_o_id) - min(no_o_id) + 1 as numbers, count(*) as new_orders
from new_order
group by no_w_id, no_d_id
having max(no_o_id) - min(no_o_id) + 1 <> count(*)
order by no_w_id, no_d_id
limit 100
