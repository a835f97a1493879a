-- why: Doltgres takes a plain 0 beside a count for a text.
-- Which orders have more or fewer lines than they say?
select o_w_id, o_d_id, o_id, o_ol_cnt, lines_there
from orders
left join (
  select ol_w_id, ol_d_id, ol_o_id, count(*) as lines_there
  from order_line
  group by ol_w_id, ol_d_id, ol_o_id
) as there on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id
where o_ol_cnt <> coalesce(lines_there, cast(0 as bigint))
order by o_w_id, o_d_id, o_id
limit 100
