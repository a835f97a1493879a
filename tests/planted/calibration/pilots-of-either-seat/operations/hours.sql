-- How long did clubs fly?
select p.club, count(*) as flights, sum(f.minutes) as minutes
from pilots p join glider_flights f on f.left_seat = p.id or f.right_seat = p.id
group by p.club order by p.club
