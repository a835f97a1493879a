-- The first one leaves.
delete from queue order by id limit 1
