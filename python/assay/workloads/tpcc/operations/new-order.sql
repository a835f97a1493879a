-- A customer orders 5 to 15 items, which are taken from stock (clause 2.4).
-- name: begin
begin;
-- name: customer
select c_discount, w_tax, c_last, c_credit
from customer join warehouse on w_id = c_w_id
where c_w_id = ${w_id} and c_d_id = ${d_id} and c_id = ${c_id};
-- name: district
update district
set d_next_o_id = d_next_o_id + 1
where d_w_id = ${w_id} and d_id = ${d_id}
returning d_tax, d_next_o_id - 1;
-- An item that is not there is a mistyped one: the order is rolled back when all else is done.
-- name: items
select i_id, i_price, i_data, i_name
from item
where i_id in ($[ ${i_id.#} ]);
-- Of an order whose lines are all of different stock.
-- name: take_stock
update stock
set
  s_quantity = s_quantity - ordered + case when s_quantity >= ordered + 10 then 0 else 91 end,
  s_ytd = s_ytd + ordered,
  s_order_cnt = s_order_cnt + 1,
  s_remote_cnt = s_remote_cnt + remote
from (values $[
  (cast(${s_w_id.#} as integer), cast(${s_i_id.#} as integer), cast(${ordered.#} as integer),
   cast(${remote_cnt.#} as integer))
]) as line (w_id, i_id, ordered, remote)
where s_w_id = line.w_id and s_i_id = line.i_id
returning
  s_w_id,
  s_i_id,
  s_quantity,
  case cast(${d_id} as integer)
    when 1 then s_dist_01
    when 2 then s_dist_02
    when 3 then s_dist_03
    when 4 then s_dist_04
    when 5 then s_dist_05
    when 6 then s_dist_06
    when 7 then s_dist_07
    when 8 then s_dist_08
    when 9 then s_dist_09
    when 10 then s_dist_10
  end,
  s_data;
-- Of an order with two lines of the same stock.
-- name: stock
select
  s_w_id,
  s_i_id,
  s_quantity,
  case cast(${d_id} as integer)
    when 1 then s_dist_01
    when 2 then s_dist_02
    when 3 then s_dist_03
    when 4 then s_dist_04
    when 5 then s_dist_05
    when 6 then s_dist_06
    when 7 then s_dist_07
    when 8 then s_dist_08
    when 9 then s_dist_09
    when 10 then s_dist_10
  end,
  s_data
from stock
where (s_w_id, s_i_id) in ($[ (${s_w_id.#}, ${s_i_id.#}) ])
order by s_w_id, s_i_id
for update;
-- name: update_stock
update stock
set
  s_quantity = quantity,
  s_ytd = s_ytd + ordered,
  s_order_cnt = s_order_cnt + orders,
  s_remote_cnt = s_remote_cnt + remote
from (values $[
  (cast(${s_w_id.#} as integer), cast(${s_i_id.#} as integer), cast(${s_quantity.#} as integer),
   cast(${ordered.#} as integer), cast(${order_cnt.#} as integer), cast(${remote_cnt.#} as integer))
]) as line (w_id, i_id, quantity, ordered, orders, remote)
where s_w_id = line.w_id and s_i_id = line.i_id;
-- name: order
with entered as (
  insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
  values (${o_id}, ${d_id}, ${w_id}, ${c_id}, current_timestamp, ${o_ol_cnt}, ${o_all_local})
)
insert into new_order (no_o_id, no_d_id, no_w_id)
values (${o_id}, ${d_id}, ${w_id});
-- name: lines
insert into order_line (
  ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info
) values $[
  (${o_id}, ${d_id}, ${w_id}, ${ol_number.#}, ${i_id.#}, ${ol_supply_w_id.#}, ${ol_quantity.#}, ${ol_amount.#},
   ${ol_dist_info.#})
];
-- name: commit
commit;
-- name: rollback
rollback;
