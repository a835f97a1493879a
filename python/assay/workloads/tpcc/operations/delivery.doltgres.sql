-- why: Doltgres locks no rows, finds none by a list of keys or of values, changes none within a query; a sum
-- has no more digits than its first part, which is given more.
-- The oldest new order of each district is delivered, all in one transaction (clause 2.7).
-- name: begin
begin;
-- name: oldest
$[ (
  select no_d_id, no_o_id
  from new_order
  where no_w_id = ${w_id} and no_d_id = ${asked_d_id.#}
  order by no_o_id
  limit 1
) ]{union all};
-- name: take_out
delete from new_order
where $[ (no_w_id = ${w_id} and no_d_id = ${d_id.#} and no_o_id = ${o_id.#}) ]{or};
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
update customer
set
  c_balance = cast(c_balance as decimal(20, 8)) + case $[
    when c_d_id = ${d_id.#} and c_id = ${c_id.#} then cast(${amount.#} as decimal(12, 2))
  ]{} end,
  c_delivery_cnt = c_delivery_cnt + 1
where $[ (c_w_id = ${w_id} and c_d_id = ${d_id.#} and c_id = ${c_id.#}) ]{or};
-- name: commit
commit;
