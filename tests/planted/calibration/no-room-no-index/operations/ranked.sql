-- The one in the middle.
select subject from helpdesk where id % 4 = 1 order by urgency, subject offset 20000 limit 1
