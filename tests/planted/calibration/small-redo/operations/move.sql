-- To another place.
update markers set place = ${place}, note = repeat(char(65 + ${place} % 26), 300) where marker = ${marker}
