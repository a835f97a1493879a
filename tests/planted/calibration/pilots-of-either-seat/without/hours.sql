-- How long did clubs fly?
select p.club, count(*) as flights, sum(f.minutes) as minutes
from (select left_seat as pilot, minutes from glider_flights
 union all select right_seat, minutes from glider_flights where right_seat <> left_seat) f
join pilots p on p.id = f.pilot
group by p.club order by p.club
