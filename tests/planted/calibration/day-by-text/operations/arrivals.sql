-- Who came on that day?
select count(*) as counted, sum(beds) as beds from lodge_stays where strftime('%Y-%m-%d', arrived, 'unixepoch') = strftime('%Y-%m-%d', 1600000000 + ${day} * 86400, 'unixepoch')
