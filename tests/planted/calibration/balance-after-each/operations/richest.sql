-- Which purses hold most?
select purse, sum(cents) as cents from purse_entries group by purse order by 2 desc, 1 limit 10
