-- How much work was in changes?
select hours, count(*) as changes from drawing_changes where id <= 4000 group by hours order by hours
