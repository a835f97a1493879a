kill connection {connection}
