-- Which lifts had faults?
select lift, count(*) as faults from lift_messages where regexp_matches(line, '^(FAULT|ERROR) door [0-9]+ of shaft [0-9a-f]*$') group by lift order by 2 desc, 1 limit 5
