prepare {name} as
