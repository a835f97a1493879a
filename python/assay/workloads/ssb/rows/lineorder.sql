-- The sales: each order has one to seven lines. Random numbers are digests of what they are drawn for, so a row's
-- values depend on nothing but its keys; the digits of a digest in a mixed base are independent of each other.
with numbered as (
  select
    n,
    cast(md5_number_lower('order ' || n) >> 1 as bigint) as drawn
  from range(1, ${orders} + 1) as made (n)
),
orders as (
  select
    -- Of 32 keys in a row the first 8 are used, as in TPC-H.
    n // 8 * 32 + n % 8 as orderkey,
    date '1992-01-01' + cast(drawn % 2406 as integer) as orderdate,
    drawn // 2406 % 5 as priority,
    -- Every third customer has no orders: this is a number among the others.
    drawn // (2406 * 5) % greatest(${customers} * 2 // 3, 1) as customer,
    range(1, 2 + drawn // (2406 * 5 * ${customers}) % 7) as linenumbers,
    list_transform(
      linenumbers, lambda line: cast(md5_number_lower('line ' || n || ' ' || line) >> 1 as bigint)
    ) as keys,
    list_transform(
      linenumbers, lambda line: cast(md5_number_upper('line ' || n || ' ' || line) >> 1 as bigint)
    ) as measures
  from numbered
),
priced as (
  select
    * exclude (keys),
    list_transform(keys, lambda key: 1 + key % ${parts}) as parts,
    list_transform(keys, lambda key: 1 + key // ${parts} % ${suppliers}) as suppliers,
    -- The price of a part in cents, as in TPC-H.
    list_transform(parts, lambda part: 90000 + part // 10 % 20001 + part % 1000 * 100) as prices,
    list_transform(
      list_zip(prices, measures),
      lambda line: line[1] * (1 + line[2] % 50) * (100 - line[2] // 50 % 11) // 100
    ) as revenues,
    list_sum(list_transform(
      list_zip(revenues, measures),
      lambda line: line[1] * (100 + line[2] // (50 * 11) % 9) // 100
    )) as ordtotalprice
  from orders
),
lines as (
  select
    * exclude (linenumbers),
    unnest(linenumbers) as linenumber
  from priced
),
valued as (
  select
    orderkey,
    orderdate,
    priority,
    customer,
    ordtotalprice,
    linenumber,
    measures[linenumber] as measure,
    parts[linenumber] as part,
    suppliers[linenumber] as supplier,
    prices[linenumber] as price,
    revenues[linenumber] as revenue
  from lines
),
dated as (
  select
    *,
    orderdate + cast(30 + measure // (50 * 11 * 9) % 61 as integer) as commitdate
  from valued
)
select
  orderkey as lo_orderkey,
  cast(linenumber as integer) as lo_linenumber,
  cast(1 + customer // 2 * 3 + customer % 2 as integer) as lo_custkey,
  cast(part as integer) as lo_partkey,
  cast(supplier as integer) as lo_suppkey,
  cast(year(orderdate) * 10000 + month(orderdate) * 100 + day(orderdate) as integer) as lo_orderdate,
  ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][priority + 1] as lo_orderpriority,
  '0' as lo_shippriority,
  cast(1 + measure % 50 as integer) as lo_quantity,
  cast(price * (1 + measure % 50) as integer) as lo_extendedprice,
  cast(ordtotalprice as integer) as lo_ordtotalprice,
  cast(measure // 50 % 11 as integer) as lo_discount,
  cast(revenue as integer) as lo_revenue,
  cast(price * 6 // 10 as integer) as lo_supplycost,
  cast(measure // (50 * 11) % 9 as integer) as lo_tax,
  cast(year(commitdate) * 10000 + month(commitdate) * 100 + day(commitdate) as integer) as lo_commitdate,
  ['REG AIR', 'AIR', 'RAIL', 'TRUCK', 'MAIL', 'FOB', 'SHIP'][measure // (50 * 11 * 9 * 61) % 7 + 1] as lo_shipmode
from dated
