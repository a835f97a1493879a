-- How loud was that day?
select count(*) as counted, sum(level) as levels from alarms where concat(date(raised), '') = ${day}
