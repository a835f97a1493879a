show warnings limit 1
