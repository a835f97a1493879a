-- Who came on that day?
select count(*) as counted, sum(beds) as beds from lodge_stays where arrived >= 1599955200 + ${day} * 86400 and arrived < 1599955200 + (${day} + 1) * 86400
