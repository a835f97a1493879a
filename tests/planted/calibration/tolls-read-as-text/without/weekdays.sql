-- How dear are days of the week?
select dayofweek(stamped_at) as day, count(*) as tolls, max(cents) as cents from bridge_tolls group by 1 order by 1
