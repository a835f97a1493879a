-- How the server stands, in its own words: buffers, disk, clients, locks, transactions.
status()
