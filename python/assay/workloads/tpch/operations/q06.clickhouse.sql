-- why: ClickHouse takes 0.06 as binary floating point, and 0.06 + 0.01 of these is not 0.07.
-- How much more would a year's small orders have earned without discounts in a narrow band?
select sum(l_extendedprice * l_discount) as revenue
from lineitem
where l_shipdate >= date '${date}'
  and l_shipdate < date '${date}' + interval '1' year
  and l_discount between cast('${discount}' as decimal(15, 2)) - cast('0.01' as decimal(15, 2))
    and cast('${discount}' as decimal(15, 2)) + cast('0.01' as decimal(15, 2))
  and l_quantity < ${quantity}
