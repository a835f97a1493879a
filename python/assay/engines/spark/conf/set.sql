set {name}={value}
