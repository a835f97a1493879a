-- Which orders have a carrier and lines that are not delivered, or none and lines that are?
select o_w_id, o_d_id, o_id, o_carrier_id, lines_there, lines_delivered
from orders
join (
  select ol_w_id, ol_d_id, ol_o_id, count(*) as lines_there, count(ol_delivery_d) as lines_delivered
  from order_line
  group by ol_w_id, ol_d_id, ol_o_id
) as there on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where lines_delivered <> case when o_carrier_id is null then 0 else lines_there end
order by o_w_id, o_d_id, o_id
limit 100
