explain analyze format=json
