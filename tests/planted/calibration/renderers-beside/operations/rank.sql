-- Where did most children come?
select theatre, sum(children) as children from puppet_plays where town = ${town} group by theatre order by 2 desc, 1 limit 5
