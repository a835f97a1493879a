-- What is next in this queue?
select id, state from jobs where queue = ${queue} order by id limit 5
