drop procedure {name}
