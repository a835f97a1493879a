-- why: a sum in Doltgres has no more digits than its first part, so that the last one gets lost: the first part is given more.
-- Of which customers are balance and payments together not what was delivered?
select c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, delivered
from customer
left join (
  select o_w_id, o_d_id, o_c_id, sum(ol_amount) as delivered
  from orders
  join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
  where ol_delivery_d is not null
  group by o_w_id, o_d_id, o_c_id
) as deliveries on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id
where round(cast(c_balance as decimal(20, 8)) + c_ytd_payment - coalesce(delivered, 0.00), 2) <> 0
order by c_w_id, c_d_id, c_id
limit 100
