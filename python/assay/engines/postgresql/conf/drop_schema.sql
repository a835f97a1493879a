drop schema {name} cascade
