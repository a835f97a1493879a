-- Who waits at a desk that has closed?
select count(*), max(g.name) from tickets t join guests g on g.id = t.guest where t.state = 'open' and t.desk = ${desk}
