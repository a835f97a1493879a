-- How long are the longest?
select max(millimetres), count(*) from screws where box = ${box}
