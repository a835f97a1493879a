drop database {name}
