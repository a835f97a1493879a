-- Of which districts is the year to date not the sum of what was paid there?
select d_w_id, d_id, d_ytd, paid
from district
left join (
  select h_w_id, h_d_id, sum(h_amount) as paid
  from history
  group by h_w_id, h_d_id
) as payments on h_w_id = d_w_id and h_d_id = d_id
where round(d_ytd - coalesce(paid, 0), 2) <> 0
order by d_w_id, d_id
limit 100
