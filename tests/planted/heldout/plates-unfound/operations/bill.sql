-- How long has this car stood here?
select count(*) as stays, sum(minutes) as minutes from parking_stays where plate = ${plate}
