-- A supplier is in one of 250 cities, ten in each of 25 nations, each as likely as any other.
with numbered as (
  select
    n,
    md5('address of supplier ' || n) as address,
    cast(md5_number_lower('supplier ' || n) >> 1 as bigint) as drawn,
    cast(md5_number_upper('supplier ' || n) >> 1 as bigint) as dialled
  from range(1, ${suppliers} + 1) as made (n)
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
  cast(n as integer) as s_suppkey,
  'Supplier#' || lpad(cast(n as varchar), 9, '0') as s_name,
  left(address, cast(10 + drawn // (25 * 10) % 16 as integer)) as s_address,
  rpad(left(nation_name, 9), 9, ' ') || drawn // 25 % 10 as s_city,
  nation_name as s_nation,
  region_name as s_region,
  10 + nation || '-' || 100 + dialled % 900 || '-' || 100 + dialled // 900 % 900
    || '-' || 1000 + dialled // (900 * 900) % 9000 as s_phone
from settled
