-- Who lives there?
select count(*) as counted, min(born) as oldest from inhabitants where district = 1 and street = 1
