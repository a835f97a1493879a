-- What is known of a customer and of his warehouse?
select *
from customer, warehouse
where w_id = ${w_id} and c_w_id = w_id and c_d_id = ${d_id} and c_id = ${c_id}
