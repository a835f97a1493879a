-- How long did they take?
select count(*), sum(d.minutes) from emergency e join dispatches d on d.emergency_id = e.id where e.district = ${district}
