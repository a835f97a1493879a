-- When is most paid?
select hour(strptime(stamped, ['%d.%m.%Y %H:%M', '%Y-%m-%d %H:%M', '%Y/%m/%d %H:%M'])) as hour, sum(cents) as cents from bridge_tolls group by 1 order by 1
