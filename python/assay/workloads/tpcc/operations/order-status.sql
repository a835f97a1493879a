-- What became of a customer's last order (clause 2.6).
-- name: begin
begin;
-- name: by_name
select c_id, c_balance, c_first, c_middle, c_last
from customer
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_last = ${c_last}
order by c_first;
-- name: customer
select c_id, c_balance, c_first, c_middle, c_last
from customer
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_id = ${c_id};
-- name: order
select o_id, o_entry_d, o_carrier_id
from orders
where o_w_id = ${w_id} and o_d_id = ${d_id} and o_c_id = ${c_id}
order by o_id desc
limit 1;
-- name: lines
select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
from order_line
where ol_w_id = ${w_id} and ol_d_id = ${d_id} and ol_o_id = ${o_id};
-- name: commit
commit;
