-- What does a customer get off, and what does his warehouse tax?
select c_discount, c_last, c_credit, w_tax
from customer, warehouse
where w_id = ${w_id} and c_w_id = w_id and c_d_id = ${d_id} and c_id = ${c_id}
