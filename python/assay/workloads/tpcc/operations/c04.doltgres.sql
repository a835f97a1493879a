-- why: Doltgres takes a plain 0 beside a count for a text.
-- Which districts have more or fewer lines than their orders say?
select d_w_id, d_id, lines_told, lines_there
from district
left join (
  select o_w_id, o_d_id, sum(o_ol_cnt) as lines_told
  from orders
  group by o_w_id, o_d_id
) as told on o_w_id = d_w_id and o_d_id = d_id
left join (
  select ol_w_id, ol_d_id, count(*) as lines_there
  from order_line
  group by ol_w_id, ol_d_id
) as there on ol_w_id = d_w_id and ol_d_id = d_id
where coalesce(lines_told, cast(0 as bigint)) <> coalesce(lines_there, cast(0 as bigint))
order by d_w_id, d_id
limit 100
