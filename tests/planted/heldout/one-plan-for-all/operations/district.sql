-- When do they call?
select hour, count(*) from emergency where district = ${district} group by hour
