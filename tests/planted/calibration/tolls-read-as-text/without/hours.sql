-- When is most paid?
select hour(stamped_at) as hour, sum(cents) as cents from bridge_tolls group by 1 order by 1
