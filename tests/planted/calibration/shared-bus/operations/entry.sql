-- Cash comes in.
update drawers set cents = cents + 5 where id = ${drawer}
