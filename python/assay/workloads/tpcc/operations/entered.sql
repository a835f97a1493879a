-- Which orders are there beyond the 3,000 of each district that were loaded?
select o_w_id, o_d_id, o_id
from orders
where o_id > 3000
order by o_w_id, o_d_id, o_id
