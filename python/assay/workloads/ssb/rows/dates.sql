-- Every day of seven years. Weeks begin on Sunday in d_daynuminweek and on the first of January in d_weeknuminyear.
with days as (
  select date '1992-01-01' + cast(n as integer) as day
  from range(date '1998-12-31' - date '1992-01-01' + 1) as made (n)
)
select
  cast(year(day) * 10000 + month(day) * 100 + day(day) as integer) as d_datekey,
  monthname(day) || ' ' || day(day) || ', ' || year(day) as d_date,
  dayname(day) as d_dayofweek,
  monthname(day) as d_month,
  cast(year(day) as integer) as d_year,
  cast(year(day) * 100 + month(day) as integer) as d_yearmonthnum,
  left(monthname(day), 3) || year(day) as d_yearmonth,
  cast(dayofweek(day) + 1 as integer) as d_daynuminweek,
  cast(day(day) as integer) as d_daynuminmonth,
  cast(dayofyear(day) as integer) as d_daynuminyear,
  cast(month(day) as integer) as d_monthnuminyear,
  cast((dayofyear(day) - 1) // 7 + 1 as integer) as d_weeknuminyear,
  case
    when month(day) >= 11 then 'Christmas'
    when month(day) >= 9 then 'Fall'
    when month(day) >= 5 then 'Summer'
    when month(day) = 4 then 'Spring'
    else 'Winter'
  end as d_sellingseason,
  cast(dayofweek(day) = 6 as integer) as d_lastdayinweekfl,
  cast(day = last_day(day) as integer) as d_lastdayinmonthfl,
  -- Ten days a year: Christmas Eve, the first of January, and the twentieth of all months but January, March, June and
  -- December.
  cast(strftime(day, '%m%d') in ('0101', '1224')
    or (day(day) = 20 and month(day) in (2, 4, 5, 7, 8, 9, 10, 11)) as integer) as d_holidayfl,
  cast(dayofweek(day) between 1 and 5 as integer) as d_weekdayfl
from days
