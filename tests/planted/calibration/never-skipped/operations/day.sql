-- What went on that day?
select line, count(*) as counted, sum(metres) as metres, count(distinct card) as cards from journeys where day between 700 and 703 group by line order by 2 desc, 1 limit 3
