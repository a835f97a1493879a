-- How dear are days of the week?
select dayofweek(strptime(stamped, ['%d.%m.%Y %H:%M', '%Y-%m-%d %H:%M', '%Y/%m/%d %H:%M'])) as day, count(*) as tolls, max(cents) as cents from bridge_tolls group by 1 order by 1
