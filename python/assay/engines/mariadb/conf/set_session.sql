set session {name} = {value}
