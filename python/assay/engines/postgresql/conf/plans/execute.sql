execute {name}
