-- How much is there of each kind?
select regexp_replace(label, '/box-[0-9]+$', '') as ware, sum(kilos) as kilos from fish_wares group by ware order by 2 desc, 1 limit 5
