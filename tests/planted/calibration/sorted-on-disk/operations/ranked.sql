-- The one in the middle.
select code, kilos from shipments order by kilos, code offset 60000 limit 1
