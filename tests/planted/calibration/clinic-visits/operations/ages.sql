-- How old are they?
select age, count(*) as counted from visits where visit_no <= 30000 group by age order by 2 desc, 1 limit 3
