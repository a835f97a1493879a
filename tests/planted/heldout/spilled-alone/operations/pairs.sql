-- Which pair is most frequent?
select max(often) from (select gene, cell, count(*) as often, min(id) as earliest from genes group by gene, cell)
