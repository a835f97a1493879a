-- Who clicked what?
select count(*) from (select visitor, item, count(*) as often, max(id) as latest from clicks group by visitor, item)
