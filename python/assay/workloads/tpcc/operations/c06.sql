-- Which orders have more or fewer lines than they say?
select o_w_id, o_d_id, o_id, sum(said) as o_ol_cnt, sum(line) as lines_there
from (
  select o_w_id, o_d_id, o_id, 1 as entered, o_ol_cnt as said, 0 as line from orders
  union all
  select ol_w_id, ol_d_id, ol_o_id, 0, 0, 1 from order_line
) as both_sides
group by o_w_id, o_d_id, o_id
having sum(entered) > 0 and sum(said) <> sum(line)
order by o_w_id, o_d_id, o_id
limit 100
