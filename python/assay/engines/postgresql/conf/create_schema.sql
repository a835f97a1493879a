create schema {name}
