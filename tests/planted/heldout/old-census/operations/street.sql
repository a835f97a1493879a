-- Who lives there?
select count(*) as counted, min(born) as oldest from inhabitants where district = 1 and street in (77, 1021, 2033, 2500)
