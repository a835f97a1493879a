-- Of which warehouses is the year to date not the sum of what was paid there?
select w_id, w_ytd, paid
from warehouse
left join (
  select h_w_id, sum(h_amount) as paid
  from history
  group by h_w_id
) as payments on h_w_id = w_id
where round(w_ytd - coalesce(paid, 0), 2) <> 0
order by w_id
limit 100
