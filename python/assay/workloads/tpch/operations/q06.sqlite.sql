-- why: SQLite has neither intervals nor decimals: 0.06 + 0.01 is less than 0.07 until it is rounded.
-- How much more would a year's small orders have earned without discounts in a narrow band?
select sum(l_extendedprice * l_discount) as revenue
from lineitem
where l_shipdate >= '${date}'
  and l_shipdate < date('${date}', '+1 year')
  and l_discount between round(${discount} - 0.01, 2) and round(${discount} + 0.01, 2)
  and l_quantity < ${quantity}
