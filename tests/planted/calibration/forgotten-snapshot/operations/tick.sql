-- A tick.
update clocks set hand = hand + 1 where id = ${clock}
