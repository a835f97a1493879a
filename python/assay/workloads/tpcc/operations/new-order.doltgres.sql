-- why: Doltgres locks no rows, finds none by a list of keys or of values, and changes none within a query.
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
where $[ (s_w_id = ${s_w_id.#} and s_i_id = ${s_i_id.#}) ]{or};
-- name: update_stock
update stock
set
  s_quantity = case $[
    when s_w_id = ${s_w_id.#} and s_i_id = ${s_i_id.#} then cast(${s_quantity.#} as integer)
  ]{} end,
  s_ytd = s_ytd + case $[
    when s_w_id = ${s_w_id.#} and s_i_id = ${s_i_id.#} then cast(${ordered.#} as integer)
  ]{} end,
  s_order_cnt = s_order_cnt + case $[
    when s_w_id = ${s_w_id.#} and s_i_id = ${s_i_id.#} then cast(${order_cnt.#} as integer)
  ]{} end,
  s_remote_cnt = s_remote_cnt + case $[
    when s_w_id = ${s_w_id.#} and s_i_id = ${s_i_id.#} then cast(${remote_cnt.#} as integer)
  ]{} end
where $[ (s_w_id = ${s_w_id.#} and s_i_id = ${s_i_id.#}) ]{or};
-- name: order
insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
values (${o_id}, ${d_id}, ${w_id}, ${c_id}, current_timestamp, ${o_ol_cnt}, ${o_all_local});
-- name: new_order
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
