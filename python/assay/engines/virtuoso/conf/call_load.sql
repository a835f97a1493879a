call {name} (?)
