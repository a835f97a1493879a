-- Who clicked what, in turn?
select count(*) as counted, max(place) as last from (select row_number() over (order by visitor, item) as place, id from clicks)
