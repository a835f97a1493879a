in c{number} any array := v{number}
