-- How many items of the last twenty orders of a district are short (clause 2.8).
-- name: begin
begin;
-- name: district
select d_next_o_id
from district
where d_w_id = ${w_id} and d_id = ${d_id};
-- name: low_stock
select count(distinct s_i_id) as low_stock
from order_line join stock on s_w_id = ol_w_id and s_i_id = ol_i_id
where
  ol_w_id = ${w_id}
  and ol_d_id = ${d_id}
  and ol_o_id >= ${o_id_first}
  and ol_o_id < ${d_next_o_id}
  and s_quantity < ${threshold};
-- name: commit
commit;
