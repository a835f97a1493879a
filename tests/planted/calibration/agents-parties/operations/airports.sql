-- Where do most land?
select airport, count(*) as counted from flight_coupons where id <= 25000 group by airport order by 2 desc, 1 limit 3
