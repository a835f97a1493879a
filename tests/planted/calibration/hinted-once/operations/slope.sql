-- What did the slope bear?
select count(*) as counted, sum(kilos) as kilos from vineyard_harvests ignore index (vineyard_harvests_slope) where slope = ${slope}
