execute {name} using {values}
