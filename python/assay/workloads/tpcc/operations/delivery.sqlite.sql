-- why: SQLite locks no rows: a transaction that writes says so at its begin; it has no update within a query.
-- The oldest new order of each district is delivered, all in one transaction (clause 2.7).
-- name: begin
begin immediate;
-- name: oldest
delete from new_order
where $[ (
  no_w_id = ${w_id}
  and no_d_id = ${asked_d_id.#}
  and no_o_id = (
    select min(no_o_id) from new_order where no_w_id = ${w_id} and no_d_id = ${asked_d_id.#}
  )
) ]{or}
returning no_d_id, no_o_id;
-- name: orders
update orders
set o_carrier_id = ${o_carrier_id}
where $[ (o_w_id = ${w_id} and o_d_id = ${d_id.#} and o_id = ${o_id.#}) ]{or}
returning o_d_id, o_c_id;
-- name: amounts
select ol_d_id, sum(ol_amount) as amount
from order_line
where $[ (ol_w_id = ${w_id} and ol_d_id = ${d_id.#} and ol_o_id = ${o_id.#}) ]{or}
group by ol_d_id;
-- name: update_lines
update order_line
set ol_delivery_d = current_timestamp
where $[ (ol_w_id = ${w_id} and ol_d_id = ${d_id.#} and ol_o_id = ${o_id.#}) ]{or};
-- name: customers
with paid (d_id, id, amount) as (values $[ (${d_id.#}, ${c_id.#}, ${amount.#}) ])
update customer
set c_balance = c_balance + paid.amount, c_delivery_cnt = c_delivery_cnt + 1
from paid
where c_w_id = ${w_id} and c_d_id = paid.d_id and c_id = paid.id;
-- name: commit
commit;
