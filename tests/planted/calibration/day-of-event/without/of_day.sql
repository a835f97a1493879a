-- How loud was that day?
select count(*) as counted, sum(level) as levels from alarms where raised >= cast(${day} as datetime) and raised < cast(${day} as datetime) + interval 1 day
