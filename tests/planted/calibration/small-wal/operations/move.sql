-- Somebody moves.
update addresses set moved = moved + 1 where id = ${address}
