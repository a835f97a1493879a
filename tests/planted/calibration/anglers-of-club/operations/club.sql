-- Who of a club caught most?
select a.called, t.fish, t.grams, t.heaviest from anglers a join catch_totals t on t.angler = a.id where a.club = ${club} order by t.grams desc, a.id
