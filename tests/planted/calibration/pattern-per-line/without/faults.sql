-- Which lifts had faults?
select lift, count(*) as faults from lift_messages where starts_with(line, 'FAULT door ') or starts_with(line, 'ERROR door ') group by lift order by 2 desc, 1 limit 5
