-- why: a sum in Doltgres has no more digits than its first part, so that the last one gets lost: the first part is given more.
-- A customer pays; the sums of his warehouse and district follow (clause 2.5).
-- name: begin
begin;
-- name: district
update district
set d_ytd = cast(d_ytd as decimal(20, 8)) + ${h_amount}
where d_w_id = ${w_id} and d_id = ${d_id}
returning d_name, d_street_1, d_street_2, d_city, d_state, d_zip;
-- name: by_name
select c_id
from customer
where c_w_id = ${c_w_id} and c_d_id = ${c_d_id} and c_last = ${c_last}
order by c_first;
-- A customer with bad credit has the payment written before all that is known of him.
-- name: customer
update customer
set
  c_balance = cast(c_balance as decimal(20, 8)) - ${h_amount},
  c_ytd_payment = cast(c_ytd_payment as decimal(20, 8)) + ${h_amount},
  c_payment_cnt = c_payment_cnt + 1,
  c_data = case c_credit
    when 'BC' then left(
      concat_ws(
        ' ', c_id, c_d_id, c_w_id, cast(${d_id} as integer), cast(${w_id} as integer),
        cast(${h_amount} as decimal(6, 2)), c_data
      ),
      500
    )
    else c_data
  end
where c_w_id = ${c_w_id} and c_d_id = ${c_d_id} and c_id = ${c_id}
returning
  c_first,
  c_middle,
  c_last,
  c_street_1,
  c_street_2,
  c_city,
  c_state,
  c_zip,
  c_phone,
  c_since,
  c_credit,
  c_credit_lim,
  c_discount,
  c_balance,
  case c_credit when 'BC' then left(c_data, 200) end;
-- The warehouse comes last: all payments of a warehouse wait for it.
-- name: warehouse
update warehouse
set w_ytd = cast(w_ytd as decimal(20, 8)) + ${h_amount}
where w_id = ${w_id}
returning w_name, w_street_1, w_street_2, w_city, w_state, w_zip;
-- name: history
insert into history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
values (${c_id}, ${c_d_id}, ${c_w_id}, ${d_id}, ${w_id}, current_timestamp, ${h_amount}, ${h_data});
-- name: commit
commit;
