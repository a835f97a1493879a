-- Of which warehouses is the year to date not that of their districts?
select w_id, w_ytd, districts_ytd
from warehouse
left join (
  select d_w_id, sum(d_ytd) as districts_ytd
  from district
  group by d_w_id
) as districts on d_w_id = w_id
where round(w_ytd - coalesce(districts_ytd, 0), 2) <> 0
order by w_id
limit 100
