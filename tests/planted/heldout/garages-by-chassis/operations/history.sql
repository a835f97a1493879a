-- What did this car cost so far?
select count(*) as visits, sum(cents) as cents from garage_visits where chassis = ${chassis_no}
