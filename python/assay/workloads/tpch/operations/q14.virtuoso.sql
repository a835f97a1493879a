-- why: Virtuoso has neither date literals nor intervals; a text is cast to a date, and a function adds to it.
-- What percentage of a month's revenue came from parts on promotion?
select
  100.00 * sum(
    case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount) else 0 end
  ) / sum(l_extendedprice * (1 - l_discount)) as promo_revenue
from lineitem, part
where l_partkey = p_partkey
  and l_shipdate >= cast('${date}' as date)
  and l_shipdate < dateadd('month', 1, cast('${date}' as date))
