-- Who of a club caught most?
select a.called, count(*) as fish, sum(c.grams) as grams, max(c.grams) as heaviest
from anglers a join catches c on c.angler = a.id where a.club = ${club} group by a.id, a.called order by grams desc, a.id
