analyze format=json
