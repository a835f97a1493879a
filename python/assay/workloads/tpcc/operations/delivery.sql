-- The oldest new order of each district is delivered, all in one transaction (clause 2.7).
-- name: begin
begin;
-- name: oldest
delete from new_order
using (
  select asked.d_id, first_one.o_id
  from (values $[ (cast(${asked_d_id.#} as integer)) ]) as asked (d_id)
  cross join lateral (
    select no_o_id as o_id
    from new_order
    where no_w_id = ${w_id} and no_d_id = asked.d_id
    order by no_o_id
    limit 1
    for update
  ) as first_one
) as oldest
where no_w_id = ${w_id} and no_d_id = oldest.d_id and no_o_id = oldest.o_id
returning no_d_id, no_o_id;
-- name: orders
update orders
set o_carrier_id = ${o_carrier_id}
from (values $[ (cast(${d_id.#} as integer), cast(${o_id.#} as integer)) ]) as delivered (d_id, id)
where o_w_id = ${w_id} and o_d_id = delivered.d_id and o_id = delivered.id
returning o_d_id, o_c_id;
-- name: amounts
with carried as (
  update order_line
  set ol_delivery_d = current_timestamp
  from (values $[ (cast(${d_id.#} as integer), cast(${o_id.#} as integer)) ]) as delivered (d_id, o_id)
  where ol_w_id = ${w_id} and ol_d_id = delivered.d_id and ol_o_id = delivered.o_id
  returning ol_d_id, ol_amount
)
select ol_d_id, sum(ol_amount) as amount
from carried
group by ol_d_id;
-- name: customers
update customer
set c_balance = c_balance + paid.amount, c_delivery_cnt = c_delivery_cnt + 1
from (values $[
  (cast(${d_id.#} as integer), cast(${c_id.#} as integer), cast(${amount.#} as decimal(12, 2)))
]) as paid (d_id, id, amount)
where c_w_id = ${w_id} and c_d_id = paid.d_id and c_id = paid.id;
-- name: commit
commit;
