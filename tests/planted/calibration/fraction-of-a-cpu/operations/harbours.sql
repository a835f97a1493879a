-- Where was most landed?
select harbour, sum(kilos) as kilos, count(*) as counted from trawler_catches group by harbour order by 2 desc, 1
