-- A customer lives in one of 250 cities, ten in each of 25 nations, each as likely as any other.
with numbered as (
  select
    n,
    md5('address of customer ' || n) as address,
    cast(md5_number_lower('customer ' || n) >> 1 as bigint) as drawn,
    cast(md5_number_upper('customer ' || n) >> 1 as bigint) as dialled
  from range(1, ${customers} + 1) as made (n)
),
settled as (
  select
    *,
    drawn % 25 as nation,
    [
      'ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT', 'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA',
      'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO', 'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA',
      'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM', 'UNITED STATES'
    ][nation + 1] as nation_name,
    [
      'AFRICA', 'AMERICA', 'AMERICA', 'AMERICA', 'MIDDLE EAST', 'AFRICA', 'EUROPE', 'EUROPE', 'ASIA', 'ASIA',
      'MIDDLE EAST', 'MIDDLE EAST', 'ASIA', 'MIDDLE EAST', 'AFRICA', 'AFRICA', 'AFRICA', 'AMERICA', 'ASIA', 'EUROPE',
      'MIDDLE EAST', 'ASIA', 'EUROPE', 'EUROPE', 'AMERICA'
    ][nation + 1] as region_name
  from numbered
)
select
  cast(n as integer) as c_custkey,
  'Customer#' || lpad(cast(n as varchar), 9, '0') as c_name,
  left(address, cast(10 + drawn // (25 * 10) % 16 as integer)) as c_address,
  rpad(left(nation_name, 9), 9, ' ') || drawn // 25 % 10 as c_city,
  nation_name as c_nation,
  region_name as c_region,
  10 + nation || '-' || 100 + dialled % 900 || '-' || 100 + dialled // 900 % 900
    || '-' || 1000 + dialled // (900 * 900) % 9000 as c_phone,
  ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'][drawn // (25 * 10 * 16) % 5 + 1] as c_mktsegment
from settled
