-- why: Virtuoso's substring takes places as arguments only, not with from and for.
-- Which customers of seven countries have an above average balance but have never ordered, and what do they hold?
select
  cntrycode,
  count(*) as numcust,
  sum(c_acctbal) as totacctbal
from (
  select
    substring(c_phone, 1, 2) as cntrycode,
    c_acctbal
  from customer
  where substring(c_phone, 1, 2) in (
      '${codes[0]}', '${codes[1]}', '${codes[2]}', '${codes[3]}',
      '${codes[4]}', '${codes[5]}', '${codes[6]}'
    )
    and c_acctbal > (
      select avg(c_acctbal)
      from customer
      where c_acctbal > 0.00
        and substring(c_phone, 1, 2) in (
          '${codes[0]}', '${codes[1]}', '${codes[2]}', '${codes[3]}',
          '${codes[4]}', '${codes[5]}', '${codes[6]}'
        )
    )
    and not exists (
      select *
      from orders
      where o_custkey = c_custkey
    )
) as idle_customer
group by cntrycode
order by cntrycode
