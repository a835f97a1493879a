-- How much is there of each kind?
select split_part(label, '/', 1) as ware, sum(kilos) as kilos from fish_wares group by ware order by 2 desc, 1 limit 5
