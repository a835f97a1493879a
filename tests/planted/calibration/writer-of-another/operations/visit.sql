-- Somebody comes.
update rooms set visits = visits + 1 where id = ${room}
