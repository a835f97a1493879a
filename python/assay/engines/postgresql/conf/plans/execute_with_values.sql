execute {name} ({values})
