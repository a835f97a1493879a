-- why: Doltgres takes a choice between counts for a text.
-- Which orders have a carrier and lines that are not delivered, or none and lines that are?
select o_w_id, o_d_id, o_id, o_carrier_id, lines_there, lines_delivered
from orders
join (
  select ol_w_id, ol_d_id, ol_o_id, count(*) as lines_there, count(ol_delivery_d) as lines_delivered
  from order_line
  group by ol_w_id, ol_d_id, ol_o_id
) as there on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where
  (o_carrier_id is null and lines_delivered <> cast(0 as bigint))
  or (o_carrier_id is not null and lines_delivered <> lines_there)
order by o_w_id, o_d_id, o_id
limit 100
