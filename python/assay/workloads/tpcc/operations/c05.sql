-- Which orders have a carrier and are new ones, or have none and are no new ones?
select o_w_id, o_d_id, o_id, o_carrier_id, no_o_id
from orders
left join new_order on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id
where (o_carrier_id is null) = (no_o_id is null)
order by o_w_id, o_d_id, o_id
limit 100
