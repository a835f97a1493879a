set @@global.{name} = {value}
