-- What did the slope bear?
select count(*) as counted, sum(kilos) as kilos from vineyard_harvests where slope = ${slope}
