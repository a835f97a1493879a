-- why: Virtuoso has neither date literals nor intervals; a text is cast to a date, and a function adds to it.
-- Discounts are binary floating point there, so the band ends between two of them: hundredths are all that there are.
-- How much more would a year's small orders have earned without discounts in a narrow band?
select sum(l_extendedprice * l_discount) as revenue
from lineitem
where l_shipdate >= cast('${date}' as date)
  and l_shipdate < dateadd('year', 1, cast('${date}' as date))
  and l_discount between ${discount} - 0.015 and ${discount} + 0.015
  and l_quantity < ${quantity}
