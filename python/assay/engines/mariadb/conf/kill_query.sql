kill query {connection}
