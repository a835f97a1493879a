-- How loud is it usually?
select level, count(*) as counted, max(source) as source from alarms where alarm_no <= 20000 group by level
