-- How long did this guest ski?
select count(*) as hires, sum(nights) as nights from ski_hires where guest = ${guest}
