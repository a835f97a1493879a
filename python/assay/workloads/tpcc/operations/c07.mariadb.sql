-- why: after some loads, MariaDB does not end the other form within minutes.
select
  o_w_id, o_d_id, o_id, o_carrier_id,
  count(*) as lines_there, count(ol_delivery_d) as lines_delivered
from orders
join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
group by o_w_id, o_d_id, o_id, o_carrier_id
having lines_delivered <> case when o_carrier_id is null then 0 else lines_there end
order by o_w_id, o_d_id, o_id
limit 100
